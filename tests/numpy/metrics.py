"""Recomputes every metric of a report from the results position by position.

    metrics.py RESULTS.csv RESULTS.parquet REPORT.json
"""

import json
import sys

import numpy as np
import pandas as pd
import pyarrow  # reads Parquet for pandas

csv, parquet, report = sys.argv[1:]
rows = pd.read_parquet(parquet)
text = pd.read_csv(csv, low_memory=False)
assert list(rows) == list(text) and len(rows) == len(text)
for name in rows:
    same = rows[name].to_numpy() == text[name].to_numpy()
    assert np.all(same | (rows[name].isna() & text[name].isna()).to_numpy()), name

report = json.load(open(report))
compared = 0


def close(found, wanted, what):
    global compared
    compared += 1
    if wanted is None:
        assert np.isnan(found) or found is None, (what, found)
    else:
        assert np.isclose(found, wanted, rtol=0, atol=1e-9), (what, found, wanted)


def mean(values):
    values = values.dropna()
    return np.average(values, weights=rows.weight[values.index]) if len(values) else np.nan


def check(figures, part, what):
    weight = part.weight
    close(weight.sum(), figures["positions"], what)
    close(mean(part.result_kept), figures["result_kept"], what)
    close(mean(part.score_kept), figures["score_kept"], what)
    close(mean(part.result_lost), figures["result_lost"], what)
    close(mean(part.score_lost), figures["score_lost"], what)
    close(mean(part.rank_correlation), figures["rank_correlation"], what)
    close(weight[part.rank_correlation.notna()].sum(), figures["correlation_positions"], what)
    close(mean(part.nll), figures["nll"], what)
    floor = -np.log(1e-12)
    close(mean((part.nll >= floor - 1e-12).astype(float)), figures["no_chance"], what)
    close(mean(part.entropy), figures["entropy"], what)
    for top in ["top_1", "top_2", "top_3"]:
        close(mean(part[top]), figures[top], what)
    close(np.sum(figures["outcomes"]), weight.sum(), what)
    for best, row in enumerate(figures["outcomes"]):
        close(sum(row), weight[part.outcome == best - 1].sum(), what)


def check_sets(figures, part, what):
    check(figures["all"], part, what)
    check(figures["decisive_result"], part[part.decisive_result], what)
    check(figures["decisive_score"], part[part.decisive_score], what)


def check_losses(losses, part, what):
    """Checks the distribution of losses."""
    lost, states = np.array(losses["expected_positions"]), part.weight.sum()
    close(lost.sum(), states, what)
    close(lost @ np.arange(len(lost)), (part.weight * part.score_lost).sum(), what)
    for percent in [95, 99]:
        reached = np.cumsum(lost) / states >= percent / 100 - 1e-12
        close(np.argmax(reached), losses[f"percentile_{percent}"], what)
    close(np.max(np.nonzero(lost)), losses["worst"], what)


def check_squares(squares, part, what):
    """Checks losses by square: they sum to all losses, and for sure policies each square's is checked."""
    if squares:
        close(sum(s["score_lost"] for s in squares), (part.weight * part.score_lost).sum(), what)
        close(sum(s["result_lost"] for s in squares), (part.weight * part.result_lost).sum(), what)
    if squares and (part.likeliest_probability == 1).all():
        by_square = part.assign(
            result=part.weight * part.result_lost, score_given=part.weight * part.score_lost
        ).groupby("likeliest")[["weight", "result", "score_given"]].sum()
        for square in squares:
            nothing = pd.Series({"weight": 0, "result": 0, "score_given": 0})
            found = by_square.loc[square["square"]] if square["square"] in by_square.index else nothing
            close(found.weight, square["played"], (what, square))
            close(found.result, square["result_lost"], (what, square))
            close(found.score_given, square["score_lost"], (what, square))


def check_values(values, part, what):
    """Checks the expected outcomes."""
    assert (values is None) == part.value.isna().all()
    if values is None:
        return
    weight, states = part.weight, part.weight.sum()
    error = part.value - part.outcome
    close(states, values["positions"], what)
    close(mean(np.abs(error)), values["value_error"], what)
    close(np.sqrt(mean(error**2)), values["value_rmse"], what)
    decided = part[part.outcome != 0]
    close(decided.weight.sum(), values["decided_positions"], what)
    close(mean(np.sign(decided.value) == decided.outcome), values["value_sign"], what)
    chance, truth = (part.value + 1) / 2, (part.outcome + 1) / 2
    close(mean((chance - truth) ** 2), values["value_brier"], what)
    bins = np.minimum((chance * 10).astype(int), 9)
    off = (weight * (chance - truth)).groupby(bins).sum().abs().sum()
    close(off / states, values["value_calibration"], what)
    for number, group in enumerate(values["reliability"]):
        own = bins == number
        close(weight[own].sum(), group["positions"], (what, number))
        if own.any():
            close(mean(chance[own]), group["predicted"], (what, number))
            close(mean(truth[own]), group["actual"], (what, number))


def check_scores(scores, part, what):
    """Checks the expected final scores."""
    assert (scores is None) == part.final_score.isna().all()
    if scores is None:
        return
    error = part.final_score - part.score
    assert scores["positions"] == part.weight.sum()
    close(mean(np.abs(error)), scores["final_score_error"], what)
    close(mean(error), scores["final_score_bias"], what)
    close(np.sqrt(mean(error**2)), scores["final_score_rmse"], what)


def check_part(figures, part, what):
    """Checks all figures of some positions."""
    for groups, key, column in [
        ("layers", "layer", "layer"),
        ("by_moves", "moves", "moves"),
        ("by_distance", "distance", "distance"),
        ("by_value", "score", "score"),
    ]:
        assert [group[key] for group in figures[groups]] == sorted(set(part[column])), (what, key)
        for group in figures[groups]:
            check_sets(group["figures"], part[part[column] == group[key]], (what, key, group[key]))
    check_losses(figures["losses"], part, what)
    check_losses(figures["losses_decisive"], part[part.decisive_score], what)
    check_squares(figures["squares"], part, what)
    check_values(figures["values"], part, what)
    check_scores(figures["final_scores"], part, what)


for policy in report["policies"]:
    name = policy["policy"]
    part = rows[rows.policy == name]
    weight = part.weight
    states = report["table"]["judged_states"]
    assert len(part) == report["table"]["asked_states"] and weight.sum() == states
    check_sets(policy["total"], part, name)
    assert (policy["splits"] is None) == part.split.isna().all()
    for split, figures in (policy["splits"] or {}).items():
        if figures["all"]["positions"]:
            check_sets(figures, part[part.split == split], (name, split))
        assert figures["all"]["positions"] == weight[part.split == split].sum(), (name, split)
    check_part(policy, part, name)
    if policy["held_out"]:
        split = policy["held_out"]["split"]
        check_part(policy["held_out"], part[part.split == split], (name, split))

    # A policy that is sure of its move loses exactly as much as the move, and its blunders are the move's.
    sure = part[part.likeliest_probability == 1]
    close(np.abs(sure.score - sure.likeliest_score - sure.score_lost).max(), 0, name)
    assert np.allclose(sure.entropy, 0) and (part.entropy <= np.log(part.moves) + 1e-12).all()
    if len(sure) == len(part):
        blunders = policy["total"]["all"]
        for blunder, best, chosen in [("win_to_draw", 1, 0), ("win_to_loss", 1, -1), ("draw_to_loss", 0, -1)]:
            made = (part.outcome == best) & (part.likeliest_outcome == chosen)
            close(weight[made].sum() / states, blunders[blunder], (name, blunder))
    # The negative log-likelihood is that of the moves that keep the score.
    nll = -np.log(part.score_kept.clip(1e-12, 1))
    assert np.allclose(part.nll, nll, rtol=0, atol=1e-12), name
    tops = [part.top_1, part.top_2, part.top_3]
    assert all((a <= b + 1e-12).all() for a, b in zip(tops, tops[1:]))
    assert all((top[part.moves <= k] == 1).all() for k, top in enumerate(tops, 1))

    # Without games the costliest positions are those of greatest loss, each row once.
    if policy["costliest"]:
        losing = part[(part.result_lost > 0) | (part.score_lost > 0)].round(9)
        worst = losing.sort_values(
            ["result_lost", "score_lost"], ascending=False, kind="stable"
        ).drop_duplicates("row")
        assert report["games"] is None and len(policy["costliest"]) == min(5, len(worst))
        for found, (_, wanted) in zip(policy["costliest"], worst.iterrows()):
            assert found["position"] == wanted.position and found["met"] is None
            close(found["result_lost"], wanted.result_lost, name)
            close(found["score_lost"], wanted.score_lost, name)

print(f"{len(rows)} rows, {compared} figures, all found again")
