// A game: a tree of positions with the line that is shown, its list, its curve, and its text.

import * as api from "./api.js";
import { button, el, stone, svg } from "./dom.js";
import { estimated, shares } from "./card.js";
import { isOthello } from "./pieces.js";
import { ahead, cost, grade, signed, verdict } from "./values.js";

// A position of the tree, with the move that led to it and those played from it. A move of a reviewed game has its
// judgement; its answer is asked for when it is shown.
const node = (answer, move, parent) => ({ answer, move, parent, next: [], chosen: 0, mover: answer?.mover, judged: null });

// A move of which only the name is known.
const UNKNOWN = { from: null, to: null, result: null, outcome: null, followed: false };

export class Game {
  // `line` goes from the root through the current position to the end of the variation; `at` is the ply.
  constructor(table, answer) {
    this.table = table;
    this.root = node(answer, null, null);
    this.stand(this.root);
  }

  get node() {
    return this.line[this.at];
  }

  get answer() {
    return this.node.answer;
  }

  get isOver() {
    return this.answer.kind === "terminal";
  }

  // The player to move: 0 is the first.
  side(at = this.at) {
    return this.table.sides.indexOf(moverOf(this.line[at]));
  }

  // Goes to a position of the tree. The variation that led there becomes the line.
  stand(to) {
    const before = [];
    for (let one = to; one; one = one.parent) {
      before.unshift(one);
      if (one.parent) one.parent.chosen = one.parent.next.indexOf(one);
    }
    this.at = before.length - 1;
    this.line = before;
    for (let one = to; one.next.length; ) {
      one = one.next[one.chosen];
      this.line.push(one);
    }
  }

  // The position after a move if that has been played here before.
  after(move) {
    return this.node.next.find((one) => one.move.move === move.move);
  }

  // Plays a move. Moves that were played here before stay as variations.
  play(move, answer) {
    let next = this.after(move);
    if (!next) {
      next = node(answer, move, this.node);
      this.node.next.push(next);
    }
    next.answer ??= answer;
    this.stand(next);
  }

  // Adds the moves of a review from the root; returns the last position.
  add({ moves }) {
    let one = this.root;
    for (const judged of moves) {
      one.mover = judged.side;
      let next = one.next.find(({ move }) => move.move === judged.move);
      if (!next) {
        next = node(null, { ...UNKNOWN, move: judged.move }, one);
        one.next.push(next);
      }
      // A shorter search does not take back what a longer one proved.
      if (typeof judged.result_lost === "number" || !next.judged) next.judged = judged;
      one = next;
    }
    return one;
  }

  // Goes to a ply of the line, as near as there is one.
  go(at) {
    this.at = Math.max(0, Math.min(at, this.line.length - 1));
  }

  // The ply to which undo (−1) or redo (1) leads: the nearest with a person to move.
  turn(step, isPerson) {
    for (let at = this.at + step; at >= 0 && at < this.line.length; at += step) {
      if (isPerson(this.side(at))) return at;
    }
    return this.at + step;
  }

  // The move that led to a ply, with its value as it is known now.
  made(at) {
    const { parent, move, judged } = this.line[at];
    const known = parent.answer?.moves.find((one) => one.move === move.move) ?? move;
    return judged?.after && grade(known) === "open" ? { ...known, followed: undefined, ...judged.after } : known;
  }

  // Returns the loss by the move that led to a ply.
  cost(at) {
    const { parent, judged } = this.line[at];
    const isJudged = typeof judged?.result_lost === "number";
    const best = isJudged ? judged.before : parent.answer?.moves[0];
    return best ? cost(best, isJudged ? judged.after : this.made(at), this.table.score_unit) : null;
  }

  // What is known of the position of a ply: its answer, or what a review proved.
  known(at) {
    const { answer } = this.line[at];
    const proven = this.line[at + 1]?.judged?.before;
    if (answer && (answer.result !== null || !proven)) return answer;
    return { kind: "interior", mover: moverOf(this.line[at]), result: null, outcome: null, ...proven };
  }

  // The names of the moves from the root to the current position.
  get path() {
    return this.pathTo(this.node);
  }

  // The names of the moves from the root to a position.
  pathTo(to) {
    const names = [];
    for (let one = to; one.parent; one = one.parent) names.unshift(one.move.move);
    return names;
  }

  // The position to which moves from the root lead, if all of them have been played.
  find(path) {
    let one = this.root;
    for (const name of path) one = one?.next.find(({ move }) => move.move === name);
    return one;
  }

  // The lines of the tree as names of moves, to be kept with an address: first the one that is shown.
  get lines() {
    const ends = [];
    const open = [this.root];
    while (open.length) {
      const one = open.pop();
      if (one.next.length) open.push(...one.next.toReversed());
      else if (one !== this.line.at(-1)) ends.push(one);
    }
    return [this.line.at(-1), ...ends].map((end) => this.pathTo(end));
  }
}

// Name of the player to move.
const moverOf = ({ answer, mover }) => answer?.mover ?? mover;

// A variation as text: its first moves.
function names(one) {
  const all = [];
  for (let at = one; at; at = at.next[at.chosen]) all.push(at.move.move);
  return all.length > 6 ? `${all.slice(0, 6).join(" ")} …` : all.join(" ");
}

// The moves so far in a column for each player, values for the first player, mistakes in colour, and
// variations below the move from which they branch.
export function moves(game, go, stand, hints) {
  const { table, line } = game;
  if (line.length === 1) return el("p", { class: "note" }, "No move has been played.");
  const row = ({ move, parent }, at) => {
    const lost = hints ? game.cost(at) : null;
    const side = table.sides.indexOf(moverOf(parent));
    const made = game.made(at);
    // Where nothing is proven, the estimate after the move has read further than the one before.
    const next = line[at].answer;
    const value = grade(made) === "open" && next?.estimate ? ahead(next, 1 - side, table) : ahead(made, side, table);
    const spoken = hints ? `: ${value.words}${lost ? `, a mistake: ${lost.words}` : ""}` : "";
    const others = parent.next.filter((one) => one !== line[at]);
    return [
      el(
        "li",
        { class: `ply ${side ? "second" : "first"}${at === game.at ? " now" : ""}${lost ? (lost.turns ? " blunder" : " mistake") : ""}` },
        button(`${at}. ${move.move}`, () => go(at), {
          "data-key": `ply ${at}`,
          "aria-current": at === game.at ? "step" : undefined,
          "aria-label": `${at}. ${move.move}, ${moverOf(parent)}${spoken}`,
        }),
        hints && el("span", { class: "ahead", title: value.words }, value.winner !== null && stone(value.winner), value.text),
        lost && el("span", { class: "lost", title: lost.words }, lost.text),
      ),
      others.length > 0 &&
        el(
          "li",
          { class: "variations" },
          el("span", { class: "note" }, `instead of ${at}. ${move.move}: `),
          others.map((one) => [
            button(names(one), () => stand(one), { class: "word", "data-key": `variation ${at} ${one.move.move}`, "aria-label": `${names(one)}, variation` }),
            " ",
          ]),
        ),
    ];
  };
  return el(
    "div",
    { class: "game-list" },
    el("p", { class: "sides", "aria-hidden": "true" }, table.sides.map((side) => el("span", {}, side))),
    el(
      "ol",
      { class: "line", "aria-label": "moves of the game" },
      line.map((one, at) => at > 0 && row(one, at)),
    ),
  );
}

// Returns the end of the game in words, or nothing while it goes on.
export function result(game, players) {
  if (!game.isOver) return "";
  const said = verdict(game.answer, game.table);
  const person = players.findIndex((player) => player === null);
  const isAlone = players.filter((player) => player === null).length === 1;
  if (!isAlone || !game.answer.outcome) return said;
  const won = game.answer.outcome > 0 === (game.side() === person);
  return `${said}. ${won ? "You have won" : "You have lost"}`;
}

// The value over the game for the first player: a line where it is proven, bars where it is bounded.
// A click at any height goes to the ply.
export function curve(game, go) {
  const { table, line } = game;
  if (line.length < 2) return null;
  const most = table.max_score ?? 1;
  const [width, height, left] = [480, 132, 46];
  const x = (at) => left + 10 + ((width - left - 20) * at) / (line.length - 1);
  const y = (part) => height - 14 - part * (height - 28);
  const known = line.map((_, at) => game.known(at));
  const ranges = known.map((answer) => shares(answer, table));
  const guesses = known.map((answer) => estimated(answer, table));
  const runs = [[]];
  ranges.forEach(([lower, upper], at) => {
    if (lower === upper) runs.at(-1).push([x(at), y(lower)]);
    else runs.push([]);
  });
  const lines = runs.filter((run) => run.length);
  const ticks = table.has_scores
    ? [[1, signed(most)], [0.5, "0"], [0, signed(-most)]]
    : [[1, "win"], [0.5, "draw"], [0, "loss"]];
  const strip = (width - left - 20) / (line.length - 1);
  return el(
    "figure",
    {},
    el("figcaption", {}, `Value over the game, for ${table.sides[0]}`),
    svg(
      "svg",
      { class: "curve", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": spoken(ranges, guesses, table, most) },
      ticks.map(([part, text]) => [
        svg("line", { class: "grid", x1: left, x2: width, y1: y(part), y2: y(part) }),
        svg("text", { x: left - 5, y: y(part) }, text),
      ]),
      lines.map((run) => svg("path", { class: "area", d: `M${run[0][0]} ${y(0.5)}L${run.join("L")}L${run.at(-1)[0]} ${y(0.5)}Z` })),
      lines.map((run) => svg("polyline", { points: run.join(" ") })),
      ranges.map(([lower, upper], at) =>
        lower === upper || upper - lower === 1 ? null : svg("line", { class: "bounds", x1: x(at), x2: x(at), y1: y(lower), y2: y(upper) }),
      ),
      guessed(guesses, ranges, x, y),
      svg("line", { class: "here", x1: x(game.at), x2: x(game.at), y1: 4, y2: height - 4 }),
      ranges.map(([lower, upper], at) => {
        if (upper - lower === 1 && guesses[at] === null && at !== game.at) return null;
        const lost = at > 0 && game.cost(at);
        return svg("circle", {
          class: [at === game.at && "now", guesses[at] !== null && "guess", lost && (lost.turns ? "blunder" : "mistake")].filter(Boolean).join(" "),
          cx: x(at),
          cy: y(guesses[at] ?? (lower + upper) / 2),
          r: at === game.at ? 6 : line.length > 120 ? 2 : 4,
        });
      }),
      ranges.map((_, at) =>
        svg("rect", { class: "hit", x: x(at) - strip / 2, y: 0, width: strip, height, onclick: () => go(at) }),
      ),
    ),
  );
}

// A dotted line through estimates, from and to the proven values beside them.
function guessed(guesses, ranges, x, y) {
  const runs = [[]];
  guesses.forEach((guess, at) => {
    const [lower, upper] = ranges[at];
    const isProven = lower === upper;
    if (guess !== null) runs.at(-1).push([x(at), y(guess)]);
    else if (isProven && guesses[at + 1] != null) runs.push([[x(at), y(lower)]]);
    else {
      if (isProven && guesses[at - 1] != null) runs.at(-1).push([x(at), y(lower)]);
      runs.push([]);
    }
  });
  return runs.filter((run) => run.length > 1).map((run) => svg("polyline", { class: "guess", points: run.join(" ") }));
}

function spoken(ranges, guesses, table, most) {
  const say = ([lower, upper], at) => {
    const name = (part) =>
      table.has_scores ? signed(Math.round((2 * part - 1) * most)) : ["loss", "draw", "win"][Math.round(2 * part)];
    if (guesses[at] !== null) return `about ${name(guesses[at])}`;
    return lower === upper ? name(lower) : `${name(lower)} to ${name(upper)}`;
  };
  return `Value for ${table.sides[0]}, ply by ply: ${ranges.map(say).join(", ")}`;
}

// Texts of the game and of its position: a name, the ending of a file, and what gives the text.
export function texts(game, players) {
  const { table, line, root, answer } = game;
  const names = line.slice(1).map(({ move }) => move.move);
  const { obf, sfen } = answer.notations;
  const [name, position] = obf ? ["OBF", obf] : sfen ? ["SFEN", sfen] : ["position", answer.position];
  const written = (form) => async () => {
    const [first, second] = players;
    const asked = { position: root.answer.position, moves: names.join(" "), form, first, second };
    return (await api.writtenGame(table.table, asked)).text;
  };
  return [
    ["moves", "txt", async () => names.join(isOthello(table) ? "" : " ")],
    [name, "txt", async () => position],
    ...table.forms.map((form) =>
      form === "lines" ? ["game in a line", "txt", written(form)] : [form.toUpperCase(), form, written(form)],
    ),
  ];
}
