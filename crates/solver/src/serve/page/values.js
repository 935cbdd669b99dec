// Values in words, and in signs that need no colour: a letter or a sign is always there.

const MINUS = "\u2212";
const many = (word) =>
  /[^aeou]y$/.test(word) ? word.replace(/y$/, "ies") : /(s|x|z|ch|sh)$/.test(word) ? `${word}es` : `${word}s`;
export const plural = (count, word) => `${count} ${count === 1 ? word : many(word)}`;
const LETTERS = { win: "W", draw: "D", loss: "L" };
const NAMES = { 1: "win", 0: "draw", "-1": "loss" };

export const signed = (number) => (number > 0 ? `+${number}` : number < 0 ? `${MINUS}${-number}` : "0");

// Win, draw, loss, or open: of a move that the table does not follow nothing is known.
export const grade = (value) => (value.followed === false ? "open" : (value.result ?? "open"));

// Bounds of the outcome, from those of the score where only these are known.
export function bounds(value) {
  if (value.score_lower !== undefined) return [Math.sign(value.score_lower), Math.sign(value.score_upper)];
  return [value.outcome_lower ?? -1, value.outcome_upper ?? 1];
}

// Expectation of a short search where nothing is proven, rounded, as text; null where there is none.
export function expected({ estimate }) {
  if (!estimate) return null;
  if (estimate.outcome) return `${estimate.outcome > 0 ? "W" : "L"}${estimate.distance}`;
  return signed(Math.round(estimate.advantage));
}

export const thousandNodes = (nodes) => `${nodes.toLocaleString("en")} nodes`;

// An estimate as a share between −1 and 1 of what can be won, for who makes the move or is to move; null where there is none.
// Without scores ten pawns are as far as three quarters.
export function leaning({ estimate }, table) {
  if (!estimate) return null;
  if (estimate.outcome) return estimate.outcome;
  const most = table.max_score;
  return most ? Math.max(-1, Math.min(1, estimate.advantage / most)) : Math.tanh(estimate.advantage / 10);
}

// An estimate in words, for who makes the move or is to move.
function expectedWords({ estimate }, table) {
  if (!estimate) return null;
  const { advantage, outcome, distance } = estimate;
  const amount = Math.round(Math.abs(advantage));
  const said = outcome
    ? `a ${NAMES[outcome]} in ${plural(distance, "ply")}`
    : amount === 0
      ? "about even"
      : `${advantage > 0 ? "ahead" : "behind"} by about ${plural(amount, table.has_scores ? (table.score_unit ?? "point") : "pawn")}`;
  return `${said} (an estimate)`;
}

// A value in a few characters; none where nothing is known.
export function badge(value) {
  const known = grade(value);
  if (known === "open") {
    const [lower, upper] = value.followed === false ? [-1, 1] : bounds(value);
    if (lower === 0 || upper === 0) return lower === 0 ? "≥D" : "≤D";
    const guess = expected(value);
    return guess === null ? "" : `≈${guess}`;
  }
  if (value.score !== undefined && value.score !== null) return signed(value.score);
  return LETTERS[known] + (value.distance ?? "");
}

// A value in words, for who makes the move or is to move.
export function words(value, table) {
  if (value.followed === false && table.states === null) return expectedWords(value, table) ?? "not known";
  if (value.followed === false)
    return ["leads out of the table", expectedWords(value, table) ?? "not known"].join(", ");
  const plies =
    value.distance === null ? null : `${plural(value.distance, "ply").replace(/^0 plies$/, "at")} to the end`;
  const said =
    value.result === null
      ? badge(value).startsWith("≈")
        ? [expectedWords(value, table)]
        : [...open(value, table), expectedWords(value, table)]
      : [
          value.score
            ? `${value.result} by ${plural(Math.abs(value.score), table.score_unit ?? "point")}`
            : value.result,
          value.distance === 0 ? null : plies,
        ];
  return said.filter(Boolean).join(", ");
}

function open(value, table) {
  if (value.score_lower !== undefined) {
    const unit = table.score_unit ?? "point";
    return [`not proven: between ${signed(value.score_lower)} and ${signed(value.score_upper)} ${unit}s`];
  }
  const [lower, upper] = bounds(value);
  const said =
    lower === 0
      ? "at least a draw"
      : upper === 0
        ? "at most a draw"
        : "not proven, anything from a loss to a win";
  const least =
    typeof value.distance_lower === "number" &&
    `no win or loss within ${plural(value.distance_lower - 1, "ply")}`;
  return [said, least && value.distance_lower > 1 ? least : null];
}

// Returns whether a value was found outside a table.
export const isSearched = ({ table }) => ["search", "stored solution", "stored solution and search"].includes(table);

// The value of a position, with the players by name.
export function verdict(answer, table) {
  const said = verdictOf(answer, table);
  if (!isSearched(answer) || answer.result === null) return said;
  return `${said}. ${table.states === null ? "Known" : "Not in the table: known"} by ${answer.table}`;
}

function verdictOf(answer, table) {
  const [first, second] = table.sides;
  const other = answer.mover === first ? second : first;
  if (answer.kind === "terminal" && answer.end)
    return `The game is over${answer.winner ? `, ${answer.winner} has won` : ""}: ${answer.end}`;
  if (answer.kind === "terminal") return finished(answer, other, table);
  const guess = expectedWords(answer, table);
  if (answer.kind === "outside" && answer.result === null && table.states === null)
    return `${answer.mover} to move. ${guess ? `For ${answer.mover} ${guess}` : "Not known: there is no table"}`;
  if (answer.kind === "outside" && answer.result === null)
    return `${answer.mover} to move. The table does not have this position: ${limits(table)}${guess ? `; for ${answer.mover} ${guess}` : ""}`;
  const plies = answer.distance === null ? "" : `, ${plural(answer.distance, "ply")} to the end`;
  const by = answer.score ? ` by ${plural(Math.abs(answer.score), table.score_unit ?? "point")}` : "";
  switch (answer.result) {
    case "win":
      return `${answer.mover} wins${by}${plies}`;
    case "loss":
      return `${other} wins${by}${plies}`;
    case "draw":
      return `A draw${plies}`;
    default:
      return `For ${answer.mover}: ${badge(answer).startsWith("≈") ? `not proven, ${guess}` : [...open(answer, table), guess].filter(Boolean).join(", ")}${frontier(answer)}`;
  }
}

// Limits of a table, in words.
export function limits(table) {
  if (table.states === null) return "there is no table of this game";
  const said = [
    table.max_depth !== null && `it goes ${plural(table.max_depth, "ply")} deep`,
    table.max_states !== null && `it was bounded to ${table.max_states.toLocaleString("en")} states`,
  ].filter(Boolean);
  return said.length ? said.join(", ") : "it cannot be reached from its start";
}

const frontier = (answer) =>
  answer.kind === "frontier" ? "; the table ends here, its moves were not followed" : "";

function finished(answer, other, table) {
  const by = answer.score ? ` by ${plural(Math.abs(answer.score), table.score_unit ?? "point")}` : "";
  const winner = answer.outcome > 0 ? answer.mover : other;
  return `The game is over: ${answer.outcome === 0 ? "a draw" : `${winner} wins${by}`}`;
}

// The player who is ahead (0 is the first), by how much, and that in words. `side` made the move or is to move.
export function ahead(value, side, table) {
  const known = grade(value);
  if (known === "open") {
    const [lower, upper] = value.followed === false ? [-1, 1] : bounds(value);
    const draws = lower === 0 ? side : upper === 0 ? 1 - side : null;
    const guess = draws === null && expected(value);
    if (guess) {
      const sign = Math.sign(value.estimate.outcome ?? value.estimate.advantage);
      const winner = guess === "0" ? null : sign > 0 ? side : 1 - side;
      return { winner, text: `≈${guess.replace(/^[+\u2212WL]/, "")}`, words: expectedWords(value, table).replace(/ahead|behind/, (word) => `${table.sides[side]} ${word}`) };
    }
    return { winner: draws, text: draws === null ? "" : "≥", words: draws === null ? "not proven" : `${table.sides[draws]} at least draws` };
  }
  if (known === "draw") return { winner: null, text: "=", words: "a draw" };
  const winner = known === "win" ? side : 1 - side;
  const scored = typeof value.score === "number";
  const number = scored ? Math.abs(value.score) : (value.distance ?? "");
  const by = scored ? ` by ${plural(number, table.score_unit ?? "point")}` : number === "" ? "" : `, ${plural(number, "ply")} to the end`;
  return { winner, text: String(number), words: `${table.sides[winner]} wins${by}` };
}

// Returns the outcome and the score that a move gives away, or null. Both values are those of the same player.
export function cost(best, made, unit) {
  if (best.outcome === null || made.outcome === null || made.followed === false) return null;
  if (best.outcome === undefined || made.outcome === undefined) return null;
  const parts = [];
  if (made.outcome < best.outcome) parts.push(`${NAMES[best.outcome]} → ${NAMES[made.outcome]}`);
  if (typeof best.score === "number" && made.score < best.score)
    parts.push(`${MINUS}${best.score - made.score}`);
  if (!parts.length) return null;
  const words = [
    made.outcome < best.outcome && `turns a ${NAMES[best.outcome]} into a ${NAMES[made.outcome]}`,
    made.score < best.score && `gives away ${plural(best.score - made.score, unit ?? "point")}`,
  ];
  return { text: parts.join(", "), words: words.filter(Boolean).join(", "), turns: made.outcome < best.outcome };
}

// The square's name: c4 in Othello, 3b in shogi, column 4, row 2 in Connect Four.
export function square(table, at) {
  const [column, row] = [table.column_names[at % table.columns], table.row_names[Math.floor(at / table.columns)]];
  return /^\d+ \d+$/.test(`${column} ${row}`) ? `column ${column}, row ${row}` : column + row;
}
