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

// A value in at most four characters.
export function badge(value) {
  const known = grade(value);
  if (known === "open") {
    if (value.followed === false) return "?";
    const [lower, upper] = bounds(value);
    return lower === 0 ? "≥D" : upper === 0 ? "≤D" : "?";
  }
  if (value.score !== undefined && value.score !== null) return signed(value.score);
  return LETTERS[known] + (value.distance ?? "");
}

// A value in words, for who makes the move or is to move.
export function words(value, table) {
  if (value.followed === false) return "leads out of the table, not known";
  const plies =
    value.distance === null ? null : `${plural(value.distance, "ply").replace(/^0 plies$/, "at")} to the end`;
  const said =
    value.result === null
      ? open(value, table)
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

// The value of a position, with the players by name.
export function verdict(answer, table) {
  const said = verdictOf(answer, table);
  return answer.table === "search" ? `${said}. Not in the table: found by search` : said;
}

function verdictOf(answer, table) {
  const [first, second] = table.sides;
  const other = answer.mover === first ? second : first;
  if (answer.kind === "terminal" && answer.end)
    return `The game is over${answer.winner ? `, ${answer.winner} has won` : ""}: ${answer.end}`;
  if (answer.kind === "terminal") return finished(answer, other, table);
  if (answer.kind === "outside" && answer.result === null)
    return `${answer.mover} to move. The table does not have this position: ${limits(table)}`;
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
      return `For ${answer.mover}: ${open(answer, table).filter(Boolean).join(", ")}${frontier(answer)}`;
  }
}

// Limits of a table, in words.
export function limits(table) {
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
    return { winner: draws, text: draws === null ? "?" : "≥", words: draws === null ? "not proven" : `${table.sides[draws]} at least draws` };
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
