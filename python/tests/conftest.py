import pytest

import yomikiri as ym


@pytest.fixture(scope="session")
def tables(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="session")
def table(tables):
    return ym.solve("othello-4x4", tables=tables, progress=False)


@pytest.fixture(scope="session")
def animal(tables):
    return ym.solve("animal-shogi-3x3", tables=tables, progress=False)


@pytest.fixture(scope="session")
def bounded(tables):
    return ym.solve("minishogi", max_depth=3, tables=tables, progress=False)


@pytest.fixture(scope="session")
def everything(table):
    """Returns all 56,621 positions with a move to make, in every orientation, with columns."""
    columns = ["mover", "opponent", "planes", "side", "outcome", "score", "distance", "q_score", "legal", "optimal", "board"]
    parts = [*table.states(images="all", columns=columns, batch=1 << 20)]
    assert len(parts) == 1
    return parts[0]
