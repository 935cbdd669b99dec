// The verdict: the result in words, the evaluation bar, the facts and the last event.

import { button, el, stone, svg } from "./dom.js";
import { isOthello } from "./pieces.js";
import { badge, bounds, grade, isSearched, leaning, limits, plural, thousandNodes, verdict, words } from "./values.js";

// The value of a move as a chip, or a dash where nothing is known.
export function chip(move, table) {
  const text = badge(move);
  return text ? el("span", { class: `chip ${grade(move)}`, title: words(move, table) }, text) : "–";
}

// The first player's share of the bar, between 0 and 1: of the lower and the upper bound.
export function shares(answer, table) {
  const side = table.sides.indexOf(answer.mover);
  const most = table.max_score ?? 1;
  let [lower, upper] = [-1, 1];
  if (answer.kind !== "outside" || answer.result !== null) {
    if (table.has_scores && typeof answer.score_lower === "number") [lower, upper] = [answer.score_lower / most, answer.score_upper / most];
    else if (typeof answer.outcome === "number") lower = upper = answer.outcome;
    else [lower, upper] = bounds(answer);
  }
  if (side === 1) [lower, upper] = [-upper, -lower];
  return [(lower + 1) / 2, (upper + 1) / 2];
}

// The first player's share by the estimate, or null.
export function estimated(answer, table) {
  if (answer.kind === "terminal" || answer.result !== null) return null;
  const lean = leaning(answer, table);
  return lean === null ? null : ((answer.mover === table.sides[0] ? lean : -lean) + 1) / 2;
}

function bar(answer, table, text) {
  const guess = estimated(answer, table);
  const [low, high] = shares(answer, table).map((part) => 200 * part);
  const lines = [];
  for (let x = low - 12; x < high; x += 6) lines.push(`M${x} 12L${x + 12} 0`);
  return svg(
    "svg",
    { class: "evaluation", viewBox: "0 0 200 12", preserveAspectRatio: "none", role: "img", "aria-label": text },
    svg("rect", { class: "bar-white", width: 200, height: 12 }),
    high > low && svg("svg", { x: low, width: high - low, height: 12, viewBox: `${low} 0 ${high - low} 12` }, svg("path", { class: "bar-open", d: lines.join("") })),
    svg("rect", { class: "bar-black", width: low, height: 12 }),
    svg("path", { class: "bar-middle", d: "M100 0V12" }),
    guess !== null && svg("rect", { class: "bar-estimate", x: Math.max(1, Math.min(193, 200 * guess - 3)), y: 1, width: 6, height: 10, rx: 2 }),
  );
}

function discs({ board }, { sides, pieces }) {
  if (pieces.length || !board.cells.length) return null;
  const count = (letter) => board.cells.filter((cell) => cell === letter).length;
  return el(
    "span",
    { class: "discs" },
    el("span", { class: "hidden" }, `discs: ${sides[0]} ${count("X")}, ${sides[1]} ${count("O")}`),
    el("span", { "aria-hidden": "true" }, stone(0), ` ${count("X")}  `, stone(1), ` ${count("O")}`),
  );
}

// The result, shortened to what a heading holds.
function headline(answer, table) {
  if (answer.kind === "terminal" && answer.end) return answer.winner ? `${answer.winner} wins` : "A draw";
  const plain = { ...answer, distance: null, table: table.table };
  if (answer.result === null && answer.kind !== "terminal") {
    const text = badge(answer);
    const other = table.sides.find((side) => side !== answer.mover);
    if (text.startsWith("≈")) return `${answer.mover}: ${text}`;
    if (answer.kind === "outside") return table.states === null ? `${answer.mover} to move` : "Not in the table";
    return text === "≥D" ? `${answer.mover} at least draws` : text === "≤D" ? `${other} at least draws` : "Not proven";
  }
  return verdict(plain, table).replace(/^The game is over: /, "");
}

// The card; without hints it does not show who wins. `over` says who has won to the person who plays alone.
export function card({ answer, table, hints, over, event, search, oncancel, thinks }) {
  const isOver = answer.kind === "terminal";
  const shown = hints || isOver;
  const words = verdict(answer, table);
  const facts = [
    isOver ? (answer.end ?? "The game is over") : shown ? `${answer.mover} to move${answer.in_check ? ", in check" : ""}` : answer.in_check && "in check",
    hints && !isOver && typeof answer.distance === "number" && `${plural(answer.distance, "ply")} to the end`,
    hints && !isOver && answer.result !== null && "with best play",
    hints && isSearched(answer) && answer.result !== null && `known by ${answer.table}`,
    hints && !isOver && answer.estimate && `an estimate, ${thousandNodes(answer.estimate.nodes)}`,
    answer.kind === "outside" && table.states !== null && limits(table),
    hints && !isOver && answer.result === null && table.has_scores && answer.kind !== "outside" && `${answer.mover}: ${range(answer)}`,
  ].filter(Boolean);
  const title = shown ? [headline(answer, table), over].filter(Boolean).join(". ") : `${answer.mover} to move`;
  return el(
    "div",
    { class: "verdict" },
    el("p", { class: "headline" }, title),
    shown && bar(answer, table, words),
    el("p", { class: "facts" }, facts.map((fact) => el("span", {}, fact)), isOthello(table) && discs(answer, table)),
    search
      ? el("p", { class: "event" }, el("progress", { max: search.of, value: search.seconds, "aria-label": "time of the search" }), ` Searching: ${search.seconds} s of at most ${search.of} s `, button("Cancel search", oncancel, { class: "word" }))
      : thinks
        ? el("p", { class: "event" }, el("progress", { "aria-label": "thinking" }), ` ${thinks.name} thinks: ${thinks.seconds} s `, button("Cancel", thinks.cancel, { class: "word" }))
        : el("p", { class: "event", title: event }, event),
  );
}

function range({ score_lower: lower, score_upper: upper }) {
  const signed = (number) => (number > 0 ? `+${number}` : number < 0 ? `\u2212${-number}` : "0");
  return `between ${signed(lower)} and ${signed(upper)}`;
}
