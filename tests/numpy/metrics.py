"""Every metric of a report again, from the results position by position.

    metrics.py RESULTS.csv RESULTS.parquet REPORT.json
"""

import json
import sys

import numpy as np
import pandas as pd

csv, parquet, report = sys.argv[1:]
rows = pd.read_parquet(parquet)
text = pd.read_csv(csv)
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
    return np.mean(values) if len(values) else np.nan


def check(figures, part, what):
    close(len(part), figures["states"], what)
    close(mean(part.optimal_by_outcome), figures["optimal_by_outcome"], what)
    close(mean(part.optimal_by_score), figures["optimal_by_score"], what)
    close(mean(part.loss_outcome), figures["expected_loss_outcome"], what)
    close(mean(part.loss_score), figures["expected_loss_score"], what)
    close(mean(part.rank_correlation.dropna()), figures["rank_correlation"], what)
    close(part.rank_correlation.notna().sum(), figures["rank_correlation_states"], what)
    close(np.sum(figures["outcomes"]), len(part), what)
    for best, row in enumerate(figures["outcomes"]):
        close(sum(row), (part.outcome == best - 1).sum(), what)


def check_sets(figures, part, what):
    check(figures["all"], part, what)
    check(figures["decisive_outcome"], part[part.decisive_outcome], what)
    check(figures["decisive_score"], part[part.decisive_score], what)


for policy in report["policies"]:
    name = policy["policy"]
    part = rows[rows.policy == name]
    assert len(part) == report["table"]["judged_states"]
    check_sets(policy["total"], part, name)
    assert (policy["splits"] is None) == part.split.isna().all()
    for split, figures in (policy["splits"] or {}).items():
        if figures["all"]["states"]:
            check_sets(figures, part[part.split == split], (name, split))
        assert figures["all"]["states"] == (part.split == split).sum(), (name, split)
    for groups, key, column in [
        ("layers", "layer", "layer"),
        ("by_moves", "moves", "moves"),
        ("by_distance", "distance", "distance"),
        ("by_value", "score", "score"),
    ]:
        assert [group[key] for group in policy[groups]] == sorted(set(part[column]))
        for group in policy[groups]:
            check_sets(group["figures"], part[part[column] == group[key]], (name, key, group[key]))

    lost = np.array(policy["losses"]["expected_states"])
    close(lost.sum(), len(part), name)
    close(lost @ np.arange(len(lost)) / len(part), part.loss_score.mean(), name)
    reached = np.cumsum(lost) / len(part) >= 0.95 - 1e-12
    close(np.argmax(reached), policy["losses"]["percentile_95"], name)
    close(np.max(np.nonzero(lost)), policy["losses"]["worst"], name)
    # A policy that is sure of its move loses what the move loses.
    sure = part[part.likeliest_probability == 1]
    close(np.abs(sure.score - sure.likeliest_score - sure.loss_score).max(), 0, name)

    values = policy["values"]
    assert (values is None) == part.value.isna().all()
    if values is not None:
        error = part.value - part.outcome
        close(np.abs(error).mean(), values["mean_error"], name)
        close(np.sqrt((error**2).mean()), values["root_mean_square_error"], name)
        decided = part[part.outcome != 0]
        close((np.sign(decided.value) == decided.outcome).mean(), values["sign_accuracy"], name)
        chance, truth = (part.value + 1) / 2, (part.outcome + 1) / 2
        close(((chance - truth) ** 2).mean(), values["brier"], name)
        bins = np.minimum((chance * 10).astype(int), 9)
        off = (chance.groupby(bins).sum() - truth.groupby(bins).sum()).abs().sum()
        close(off / len(part), values["calibration_error"], name)

print(f"{len(rows)} rows, {compared} figures, all found again")
