// A game: the positions so far, where in it one stands, who plays, and what each move cost.

import { button, el, svg } from "./dom.js";
import { badge, cost, grade, signed, verdict, words } from "./values.js";

export class Game {
  // `line` holds positions with the move that led to each; the first has none.
  constructor(table, answer) {
    this.table = table;
    this.line = [{ answer, move: null }];
    this.at = 0;
  }

  get answer() {
    return this.line[this.at].answer;
  }

  get isOver() {
    return this.answer.moves.length === 0;
  }

  // Whose turn it is: 0 of the first player, 1 of the second.
  side(at = this.at) {
    return this.table.sides.indexOf(this.line[at].answer.mover);
  }

  // Plays a move; what came after it before is forgotten, unless it is the same.
  play(move, answer) {
    const next = this.line[this.at + 1];
    if (next?.move.move !== move.move) {
      this.line.length = this.at + 1;
      this.line.push({ answer, move });
    }
    this.at += 1;
  }

  // Goes to a ply, as near as there is one.
  go(at) {
    this.at = Math.max(0, Math.min(at, this.line.length - 1));
  }

  // The ply to which undo (-1) or redo (1) leads: the nearest at which a person is to move.
  turn(step, isPerson) {
    for (let at = this.at + step; at >= 0 && at < this.line.length; at += step) {
      if (isPerson(this.side(at))) return at;
    }
    return this.at + step;
  }

  // What the move that led to a ply gave away.
  cost(at) {
    const [before, move] = [this.line[at - 1].answer, this.line[at].move];
    return before.moves.length
      ? cost(before.moves[0], before.moves.find((one) => one.move === move.move) ?? move)
      : null;
  }
}

// The moves so far, each with its value and with what it cost.
export function moves(game, go, hints) {
  const { table, line } = game;
  if (line.length === 1) return el("p", { class: "note" }, "No move has been played.");
  const row = ({ move }, at) => {
    const lost = hints ? game.cost(at) : null;
    const mover = line[at - 1].answer.mover;
    const told = hints ? `: ${words(move, table)}${lost ? `, a mistake: ${lost.text}` : ""}` : "";
    return el(
      "li",
      { class: at === game.at ? "now" : undefined },
      button(`${at}. ${move.move}`, () => go(at), {
        "data-key": `ply ${at}`,
        "aria-current": at === game.at ? "step" : undefined,
        "aria-label": `ply ${at}, ${mover} ${move.move}${told}`,
      }),
      hints && el("span", { class: `chip ${grade(move)}` }, badge(move)),
      lost && el("span", { class: lost.turns ? "lost turns" : "lost" }, lost.text),
    );
  };
  return el(
    "ol",
    { class: "line" },
    line.map((one, at) => at > 0 && row(one, at)),
  );
}

// How the game ended, once it has.
export function result(game, players) {
  if (!game.isOver) return "";
  const said = verdict(game.answer, game.table);
  const person = players.findIndex((player) => player === null);
  const isAlone = players.filter((player) => player === null).length === 1;
  if (!isAlone || !game.answer.outcome) return said;
  const won = game.answer.outcome > 0 === (game.side() === person);
  return `${said}. ${won ? "You have won" : "You have lost"}`;
}

// The bounds of a value for the first player, as parts of the most that it can be.
function range(answer, side, most, scored) {
  if (answer.kind === "outside") return [-1, 1];
  const [lower, upper] = scored
    ? [answer.score_lower / most, answer.score_upper / most]
    : [answer.outcome_lower ?? answer.outcome ?? -1, answer.outcome_upper ?? answer.outcome ?? 1];
  return side === 0 ? [lower, upper] : [-upper, -lower];
}

// The value over the game, for the first player: a line where it is proven, bars where it is bounded.
export function curve(game, go) {
  const { table, line } = game;
  if (line.length < 2) return null;
  const most = table.rows * table.columns;
  const [width, height, left] = [480, 120, 34];
  const x = (at) => left + 8 + ((width - left - 16) * at) / (line.length - 1);
  const y = (part) => height / 2 - part * (height / 2 - 12);
  const ranges = line.map(({ answer }, at) => range(answer, game.side(at), most, table.has_scores));
  const proven = ranges.map(([lower, upper], at) => lower === upper && [x(at), y(lower)]);
  const runs = proven
    .reduce(
      (all, point) => {
        if (point) all[all.length - 1].push(point.join(","));
        else all.push([]);
        return all;
      },
      [[]],
    )
    .filter((run) => run.length);
  const ticks = table.has_scores
    ? [
        [1, signed(most)],
        [0, "0"],
        [-1, signed(-most)],
      ]
    : [
        [1, "win"],
        [0, "draw"],
        [-1, "loss"],
      ];
  return el(
    "figure",
    {},
    el("figcaption", {}, `Value over the game, for ${table.sides[0]}`),
    svg(
      "svg",
      {
        class: "curve",
        viewBox: `0 0 ${width} ${height}`,
        role: "img",
        "aria-label": spoken(ranges, table, most),
      },
      ticks
        .map(([part, text]) => [
          svg("line", { class: "grid", x1: left, x2: width, y1: y(part), y2: y(part) }),
          svg("text", { x: left - 5, y: y(part) }, text),
        ])
        .flat(),
      runs.map((run) => svg("polyline", { points: run.join(" ") })),
      ranges.map(([lower, upper], at) =>
        lower === upper
          ? null
          : svg("line", { class: "bounds", x1: x(at), x2: x(at), y1: y(lower), y2: y(upper) }),
      ),
      ranges.map(([lower, upper], at) =>
        svg("circle", {
          class: at === game.at ? "now" : undefined,
          cx: x(at),
          cy: y((lower + upper) / 2),
          r: at === game.at ? 6 : 4,
          onclick: () => go(at),
        }),
      ),
    ),
  );
}

function spoken(ranges, table, most) {
  const say = ([lower, upper]) => {
    const name = (part) =>
      table.has_scores ? signed(Math.round(part * most)) : ["loss", "draw", "win"][part + 1];
    return lower === upper ? name(lower) : `${name(lower)} to ${name(upper)}`;
  };
  return `Value for ${table.sides[0]}, ply by ply: ${ranges.map(say).join(", ")}`;
}
