"""Writes docs/results/engines.md and engines.svg: what engines of Debian are worth, measured exactly.

    apt-get install fairy-stockfish grhino
    python python/benches/engines.py [TABLES]

Takes about an hour on two cores. The whole table of animal shogi is made in TABLES if it is missing.
"""

import sys
from pathlib import Path

import numpy as np
import yomikiri as ym

TABLES = sys.argv[1] if len(sys.argv) > 1 else "tables"
DOCS = Path(__file__).parents[2] / "docs" / "results"
FISH = "usi:/usr/games/fairy-stockfish?{},rules=differ,processes=2,failures=1000"
DEPTHS = range(1, 13)
NODES = (10, 100, 1_000, 10_000, 100_000)
#: A sample of so many positions has about 2,000 in which the move decides the result.
SAMPLE = dict(sample=3500, weight="uniform", seed=1)
BANDS = ((1, 4), (5, 8), (9, 14), (15, 24), (25, 99))


def lawful(positions):
    """Draws among the moves that an engine with a rule against moving into check allows."""
    legal = positions.legal.copy()
    for action in np.flatnonzero(legal.any(axis=0)):
        rows = np.flatnonzero(legal[:, action])
        after = positions[rows].play(np.full(len(rows), action))
        # The opponent, who is to move, has won at once.
        legal[rows[after._core.results() == 1], action] = False
    nothing = ~legal.any(axis=1)
    legal[nothing] = positions.legal[nothing]
    return {"probabilities": legal / legal.sum(axis=1, keepdims=True)}


def figures(policy):
    sets = policy["total"]
    kept = sets["decisive_result"]["result_kept"]
    interval = policy["intervals"]["result_kept"]
    return kept, interval["lower"], interval["upper"]


def percent(share):
    return f"{100 * share:.1f} %"


def row(name, policy, plies):
    kept, lower, upper = figures(policy)
    total = policy["total"]["decisive_result"]
    cells = [name, percent(kept), f"{100 * lower:.1f} to {100 * upper:.1f} %", f"{total['result_lost']:.3f}"]
    if plies:
        cells.append("–" if total["plies_kept"] is None else percent(total["plies_kept"]))
    else:
        cells += [percent(total["score_kept"]), f"{total['score_lost']:.2f}"]
    return f"| {' | '.join(cells)} |"


def band(policy, first, last):
    """Returns the result kept and the number of decisive positions at some distances."""
    groups = [group for group in policy["by_distance"] if first <= group["distance"] <= last]
    sets = [group["figures"]["decisive_result"] for group in groups]
    count = sum(one["positions"] for one in sets)
    return sum(one["result_kept"] * one["positions"] for one in sets if one["positions"]) / max(count, 1), count


def plot(points, levels):
    """Draws the share not kept by depth on a logarithmic scale, with whiskers, and lines for other policies."""
    width, height, left, top, bottom = 640, 340, 50, 16, 290
    x = lambda depth: left + (depth - 0.5) / 12 * (width - left - 10)
    y = lambda share: top + (np.log10(share) - 0) / (np.log10(0.005) - 0) * (bottom - top)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif" '
             'font-size="12" fill="#595650" role="img" aria-label="Result lost by Fairy-Stockfish by depth">',
             f'<rect width="{width}" height="{height}" fill="#ffffff"/>']
    for share in (1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005):
        parts.append(f'<path d="M{left} {y(share):.1f}H{width - 10}" stroke="#dedbd3"/>'
                     f'<text x="{left - 6}" y="{y(share) + 4:.1f}" text-anchor="end">{100 * share:g} %</text>')
    for depth in DEPTHS:
        parts.append(f'<text x="{x(depth):.1f}" y="{bottom + 18}" text-anchor="middle">{depth}</text>')
    parts.append(f'<text x="{width - 10}" y="{bottom + 38}" text-anchor="end">'
                 'decisive positions in which the result is not kept, by depth</text>')
    for name, share in levels:
        parts.append(f'<path d="M{left} {y(1 - share):.1f}H{width - 10}" stroke="#86827a" stroke-dasharray="4 4"/>'
                     f'<text x="{width - 12}" y="{y(1 - share) - 4:.1f}" text-anchor="end">{name}</text>')
    for depth, (kept, lower, upper) in points:
        parts.append(f'<path d="M{x(depth):.1f} {y(1 - lower):.1f}V{y(max(1 - upper, 0.005)):.1f}" stroke="#2f7fd1" stroke-width="2"/>'
                     f'<circle cx="{x(depth):.1f}" cy="{y(1 - kept):.1f}" r="4" fill="#2f7fd1"/>')
    return "\n".join([*parts, "</svg>", ""])


def animal_shogi():
    table = ym.solve("animal-shogi", tables=TABLES)
    searches = [f"depth={depth}" for depth in DEPTHS] + [f"nodes={nodes}" for nodes in NODES]
    others = ["random", "tactician", "alphabeta:4", "alphabeta:6", "mcts:1000", "mate:1000"]
    policies = [FISH.format(search) for search in searches] + others + [ym.policy(lawful, layout="positions")]
    names = [*searches, *others, "random, lawful"]
    # Engines with other options are policies of their own, each compared and asked twice.
    report = ym.evaluate(table, *policies, names=names, games=False, **SAMPLE)
    found = dict(zip(names, report.json["policies"]))
    points = [(depth, figures(found[f"depth={depth}"])) for depth in DEPTHS]
    levels = [(name, figures(found[name])[0]) for name in ("random", "random, lawful", "alphabeta:4")]
    (DOCS / "engines.svg").write_text(plot(points, levels), encoding="utf-8")
    return found, report.json["table"]


def rhino():
    levels = [f"gtp:/usr/games/gtp-rhino -l {level} -b 0" for level in range(1, 4)]
    others = ["random", "greedy", "weights", "n-least:2", "alphabeta:4", "mcts:1000"]
    names = [*(f"level {level}" for level in range(1, 4)), *others]
    game = ym.game("othello-8x8")
    positions = game.sample(2000, empty_squares=(8, 12), seed=1)
    report = ym.evaluate(positions, *levels, *others, names=names, games=False, tables=TABLES)
    return dict(zip(names, report.json["policies"])), report.json["table"]


def main():
    fish, shogi = animal_shogi()
    gtp, othello = rhino()
    decisive = next(iter(fish.values()))["total"]["decisive_result"]["positions"]
    best = max((name for name in fish if name.startswith("depth")), key=lambda name: figures(fish[name])[0])
    heads = "| policy | result kept | 95 % interval | result lost | plies kept |\n|---|--:|--:|--:|--:|"
    bands = [f"{first} to {last}" if last < 99 else f"{first} and more" for first, last in BANDS]
    shown = ["depth=1", "depth=4", "depth=8", "depth=12", "nodes=1000", "random, lawful", "random"]
    distances = "\n".join(
        f"| {name} | " + " | ".join(percent(band(fish[name], *at)[0]) for at in BANDS) + " |" for name in shown)
    counts = " | ".join(f"{band(fish['random'], *at)[1]:,}" for at in BANDS)
    text = f"""\
# Engines: what Fairy-Stockfish and GRhino are worth

**Question.** How often do engines that people play against keep the result, measured against the solution? For people who
use them as opponents or as teachers. After this page you can repeat it and measure your own.

**Answer.** In animal shogi Fairy-Stockfish keeps the result in {percent(figures(fish['depth=1'])[0])} of the decisive positions at depth 1, in
{percent(figures(fish['depth=4'])[0])} at depth 4 and in {percent(figures(fish[best])[0])} at its best ({best}); random moves keep it in
{percent(figures(fish['random'])[0])}, and in {percent(figures(fish['random, lawful'])[0])} if they do not step into check. GRhino keeps it in
{percent(figures(gtp['level 1'])[0])} to {percent(max(figures(gtp[f'level {n}'])[0] for n in range(1, 4)))} of endgames of Othello 8×8.

    apt-get install fairy-stockfish grhino
    python python/benches/engines.py

## Fairy-Stockfish in animal shogi

{3500:,} positions drawn from the {shogi['rows']:,} of the table, each with a move to make equally likely (seed 1); in {decisive:,}, the
*decisive* ones, moves differ in result. *Result kept* is how often the move keeps the best result there, *result lost* the
mean loss (a win is 1, a draw 0, a loss −1), *plies kept* how often it also wins as soon or loses as late as possible.

![Share of the decisive positions in which the result is not kept, by depth, with 95 % intervals, beside random moves and a
search of four plies](engines.svg)

{heads}
{chr(10).join(row(name, policy, True) for name, policy in fish.items())}

*random, lawful* draws among the moves that do not step into check, the rule of the engine. By plies to the end under best play:

| policy | {' | '.join(bands)} |
|---|{'--:|' * len(BANDS)}
{distances}
| decisive positions | {counts} |

As the report reads it: {fish['depth=4']['reading']}.

## GRhino in endgames of Othello 8×8

2,000 positions with 8 to 12 empty squares (seed 1), as random games meet them, solved by search; in
{gtp['random']['total']['decisive_result']['positions']:,} moves differ in result. *Score kept* and *discs lost* are in these too. Level 3 finds the result of every such endgame, not
the score.

| policy | result kept | 95 % interval | result lost | score kept | discs lost |
|---|--:|--:|--:|--:|--:|
{chr(10).join(row(name, policy, False) for name, policy in gtp.items())}

Engines are Debian's Fairy-Stockfish 11.1 and GRhino 0.16.1, one thread each; minishogi is left out, because its values are
proven near the ends of games alone. Answers depend on the engines' versions.
"""
    (DOCS / "engines.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
