// Pictures of positions, and what boards that are played on share with them.

import { el, svg } from "./dom.js";
import { disc, lettered, shogi } from "./pieces.js";

export const SIDE = 100;
export const EDGE = 40;

// Returns whether the pieces are those of shogi, with Japanese names, and point to the opponent.
export const isShogi = (table) => table.pieces.some((kind) => kind.japanese);

export const isOthello = (table) => table.game.startsWith("othello");

export const kindOf = (table) => (isShogi(table) ? "shogi" : isOthello(table) ? "othello" : "plain");

// The first player's pieces are capital letters.
export const isFirst = (cell) => cell === cell.toUpperCase();

export const piece = (table, cell) => table.pieces.find((kind) => kind.piece === cell.toUpperCase());

// Returns the drawing of a square's content. Shogi's pieces point to the opponent: those of the far side are
// upside down.
export function drawn(table, cell, { flipped = false, kanji = false } = {}) {
  const kind = piece(table, cell);
  if (!kind && table.marks && !isOthello(table)) return lettered(cell === "X", table.marks[cell === "X" ? 0 : 1]);
  if (!kind) return disc(cell === "X");
  if (!isShogi(table)) return lettered(isFirst(cell), kind.piece);
  return shogi({ kind, isFirst: isFirst(cell), isTurned: isFirst(cell) === flipped, kanji });
}

// Writes the names of columns and rows at the edge; `place` returns the corner of a square.
export function labels(made, table, place) {
  const write = (text, x, y) => made.append(svg("text", { class: "label", x, y, "aria-hidden": "true" }, text));
  for (let column = 0; column < table.columns; column++) {
    write(table.column_names[column], place(column)[0] + SIDE / 2, EDGE / 2);
  }
  for (let row = 0; row < table.rows; row++) {
    const x = isShogi(table) ? table.columns * SIDE + 1.5 * EDGE : EDGE / 2;
    write(table.row_names[row], x, place(row * table.columns)[1] + SIDE / 2);
  }
}

// The four dots of an Othello board.
export function stars(made, { rows, columns }, edge = EDGE) {
  for (const row of [2, rows - 2])
    for (const column of [2, columns - 2])
      made.append(svg("circle", { class: "star", cx: edge + column * SIDE, cy: edge + row * SIDE, r: 6 }));
}

// Points at a move: an arrow; where it places something a ring, or a cross if it is wrong. `corner` returns that of a square.
export function pointed({ from, to }, corner, kind = "") {
  const [x, y] = corner(to).map((edge) => edge + SIDE / 2);
  if (from === null && kind === "wrong") return [svg("path", { class: "arrow wrong", d: `M${x - 26} ${y - 26}L${x + 26} ${y + 26}M${x + 26} ${y - 26}L${x - 26} ${y + 26}` })];
  if (from === null) return [svg("circle", { class: `arrow ring ${kind}`, cx: x, cy: y, r: 46 })];
  const [fromX, fromY] = corner(from).map((edge) => edge + SIDE / 2);
  const length = Math.hypot(x - fromX, y - fromY);
  const [dx, dy] = [(x - fromX) / length, (y - fromY) / length];
  const [tipX, tipY] = [x - 12 * dx, y - 12 * dy];
  const [baseX, baseY] = [tipX - 26 * dx, tipY - 26 * dy];
  const corners = `${tipX} ${tipY}L${baseX - 15 * dy} ${baseY + 15 * dx}L${baseX + 15 * dy} ${baseY - 15 * dx}`;
  return [
    svg("path", { class: `arrow ${kind}`, d: `M${fromX + 30 * dx} ${fromY + 30 * dy}L${baseX} ${baseY}` }),
    svg("path", { class: `arrow-tip ${kind}`, d: `M${corners}Z` }),
  ];
}

// A board that is not played on. With `moves`, its columns and rows have names, and each move of the list
// [move, kind] is pointed at.
export function picture(table, board, label, moves) {
  const { rows, columns } = table;
  const edge = moves ? EDGE : 0;
  const right = moves && isShogi(table) ? EDGE : 0;
  const made = svg("svg", {
    class: `board picture ${kindOf(table)}`,
    viewBox: `-4 -4 ${columns * SIDE + 8 + edge + right} ${rows * SIDE + 8 + edge}`,
    role: "img",
    "aria-label": label,
  });
  const place = (at) => [edge + (at % columns) * SIDE, edge + Math.floor(at / columns) * SIDE];
  board.cells.forEach((cell, at) => {
    const group = svg("g", { transform: `translate(${place(at)})` }, svg("rect", { class: "square", width: SIDE, height: SIDE }));
    if (cell) group.append(drawn(table, cell));
    made.append(group);
  });
  made.append(svg("rect", { class: "frame", x: edge, y: edge, width: columns * SIDE, height: rows * SIDE }));
  if (!moves) return made;
  labels(made, table, place);
  for (const [move, kind] of moves) if (move.to !== null) made.append(...pointed(move, place, kind));
  return made;
}

// The pieces in a player's hand, in words and pictures.
export function held(table, board, side) {
  const all = board.hands[side].map(({ piece: letter, count }) => {
    const kind = piece(table, letter);
    const key = letter.toUpperCase();
    const shape = kind && isShogi(table) ? drawn(table, side ? key.toLowerCase() : key, { flipped: side === 1 }) : lettered(side === 0, key);
    const drawing = svg("svg", { class: "board held-piece shogi", viewBox: "0 0 100 100", "aria-hidden": "true" }, shape);
    return el("span", { role: "img", "aria-label": `${count} ${kind?.name ?? letter}` }, drawing, count > 1 && `×${count}`);
  });
  return el("div", { class: "hand" }, `${table.sides[side]} holds `, all.length ? all : "nothing");
}
