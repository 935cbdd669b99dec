"""Wins by force in minishogi, against independent figures."""

import json
from pathlib import Path

import numpy as np
import pytest
import yomikiri as ym

TRUTH = Path(__file__).parents[2] / "tests" / "data" / "minishogi-mates.json"
MATES = json.loads(TRUTH.read_text())["positions"]


def test_single_positions_have_lengths_and_lines() -> None:
    game = ym.game("minishogi")
    for mate in MATES:
        position = game.position(mate["sfen"])
        found = position.solve(plies=7)
        plies, checks = mate["mate_plies"], mate.get("tsume_checks_only_plies")
        if plies is not None and plies <= 7:
            line = found["principal_variation"]
            assert (found["outcome"], found["distance"], len(line)) == (1, plies, plies)
            assert line[0] in mate["optimal_first_moves_usi"]
            for move in line:
                position = position.play(move)
            assert position.over
        elif plies is not None:
            assert found["outcome"] is None or found["distance_lower"] > 7
        if checks is not None:
            by_checks = found["by_checks"]
            assert (by_checks["plies"], by_checks["is_shortest"]) == (checks, True)
            assert by_checks["line"][0] in mate["tsume_first_moves"]


def test_lists_have_proven_outcomes_and_nothing_else(tmp_path: Path) -> None:
    game = ym.game("minishogi")
    short = [mate for mate in MATES if mate["mate_plies"] in (3, 5)]
    positions = game.positions([mate["sfen"] for mate in short])
    outcome, q_outcome = positions.solve(plies=4, tables=tmp_path)
    assert np.array_equal(outcome, np.ones(len(short), np.float32))
    for mate, q, position in zip(short, q_outcome, positions):
        won = {name for name, action in position.moves.items() if q[action] == 1}
        assert set(mate["optimal_first_moves_usi"]) <= won
        assert not np.isin(q[[action for action in range(len(q)) if action not in position.legal]], (-1, 0, 1)).any()
        assert np.isnan(q[position.legal]).any()
    with pytest.raises(ValueError, match="seconds"):
        positions[0].solve(seconds=0)
