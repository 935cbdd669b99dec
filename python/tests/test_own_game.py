"""A game of one's own, bound as described in the guide."""

import importlib.machinery
import importlib.util
import os

import numpy as np
import pytest

import yomikiri

LIBRARY = os.environ.get("OWN_GAME")


@pytest.mark.skipif(not LIBRARY, reason="OWN_GAME is not the library of the example")
def test_noughts_is_solved_and_measured(tmp_path):
    loader = importlib.machinery.ExtensionFileLoader("noughts_python", LIBRARY)
    spec = importlib.util.spec_from_file_location("noughts_python", LIBRARY, loader=loader)
    core = importlib.util.module_from_spec(spec)
    loader.exec_module(core)
    ym = yomikiri.bind(core)
    assert ym is yomikiri.bind(core) and ym is not yomikiri
    table = ym.solve("noughts-and-crosses", tables=tmp_path)
    values = table.lookup(table.roots)
    assert values.outcome.tolist() == [0] and values.legal.sum() == 9 and values.optimal.sum() == 9
    report = ym.evaluate(table, "random", "perfect")
    assert report["perfect"]["result_kept"] == 1 > report["random"]["result_kept"]
    assert abs(ym.exploitability(table, "perfect")["first"]["result_lost"]) < 1e-12
    states = next(table.states(columns=["outcome", "weight"], terminals=True, batch=1 << 16))
    assert states.weight.sum() == 5478 and set(np.unique(states.outcome)) == {-1, 0, 1}
    # Every empty square alike: planes are made of the game's squares.
    empty = ym.evaluate(table, lambda planes: {"logits": -99.0 * planes.sum(axis=1).reshape(len(planes), 9)})
    assert empty.metrics["result_kept"] == pytest.approx(report["random"]["result_kept"])

    # Perfect policies by position, key and text, from the values of the table.
    def perfect(given):
        return {"probabilities": table.lookup(given).policy}

    by_text = {}
    for batch in table.states(images="all", columns=["board", "policy"]):
        by_text |= zip(batch.board, batch.policy)
    for policy, layout in [
        (perfect, "positions"), (perfect, "keys"),
        (lambda texts: {"probabilities": np.array([by_text[text] for text in texts])}, "notations"),
    ]:
        ours = ym.evaluate(table, policy, layout=layout).metrics
        assert ours["result_kept"] == 1 and ours["all_positions"] == report["perfect"]["all_positions"]
        assert ym.exploitability(table, policy, layout=layout)["first"]["result_lost"] == pytest.approx(0, abs=1e-12)
    # The package itself does not know the game.
    with pytest.raises(ValueError, match="noughts-and-crosses"):
        yomikiri.game("noughts-and-crosses")
