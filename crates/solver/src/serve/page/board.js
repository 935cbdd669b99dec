// The board: discs, lettered pieces, shogi's pieces and hands; legal moves with their values.

import { el, svg } from "./dom.js";
import { badge, grade, isShogi, square, words } from "./values.js";

const SIDE = 100;
const EDGE = 40;

// What is drawn: a position, how it is turned, what is picked up, and what is done with clicks.
export function board(view) {
  const { table, answer } = view;
  if (!answer.board.cells.length) return el("pre", { class: "diagram" }, answer.board.diagram);
  const hands = table.pieces.length > 0;
  const near = view.flipped ? 1 : 0;
  return el("div", { class: "table" }, hands && hand(view, 1 - near), squares(view), hands && hand(view, near));
}

// Whether a piece is the first player's: the second's are written in small letters.
const isFirst = (cell) => cell === cell.toUpperCase();

function piece(table, cell) {
  return table.pieces.find((kind) => kind.piece === cell.toUpperCase());
}

// What stands on a square, in words.
function content(table, cell) {
  if (!cell) return "empty";
  const kind = piece(table, cell);
  if (kind) return `${table.sides[isFirst(cell) ? 0 : 1]} ${kind.name}`;
  return `${table.sides[cell === "X" ? 0 : 1]} disc`;
}

// The moves that a square begins: those of the piece on it, or those that put something there.
export function movesAt(view, at) {
  const moves = view.answer.moves.map((move, index) => ({ ...move, index }));
  if (view.picked === null) {
    const from = moves.filter((move) => move.from === at);
    return from.length || view.table.pieces.length
      ? from
      : moves.filter((move) => move.from === null && move.to === at);
  }
  return moves.filter((move) => move.to === at && isOf(view, move));
}

// Whether a move is one of what is picked up: a square's number, or the letter of a piece in hand.
function isOf(view, move) {
  return typeof view.picked === "number" ? move.from === view.picked : move.dropped === view.picked;
}

function squares(view) {
  const { table, answer } = view;
  const { rows, columns } = table;
  // Names stand above and on one side; elsewhere there is room for half a line.
  const width = columns * SIDE + 2 * EDGE;
  const start = isShogi(table) ? EDGE - 4 : 0;
  const made = svg("svg", {
    class: isShogi(table) ? "board shogi" : "board",
    viewBox: `${start} 0 ${width - EDGE + 4} ${rows * SIDE + EDGE + 4}`,
    role: "group",
    "aria-label": `${table.title}, ${rows} rows of ${columns}, ${answer.mover} to move`,
  });
  const place = (at) => {
    const [row, column] = [Math.floor(at / columns), at % columns];
    const turned = view.flipped ? [rows - 1 - row, columns - 1 - column] : [row, column];
    return [EDGE + turned[1] * SIDE, EDGE + turned[0] * SIDE];
  };
  labels(made, table, place, width);
  for (let at = 0; at < rows * columns; at++) made.append(one(view, at, place(at)));
  return made;
}

function labels(made, table, place, width) {
  const write = (text, x, y) => made.append(svg("text", { class: "label", x, y, "aria-hidden": "true" }, text));
  for (let column = 0; column < table.columns; column++) {
    write(table.column_names[column], place(column)[0] + SIDE / 2, EDGE / 2);
  }
  for (let row = 0; row < table.rows; row++) {
    const x = isShogi(table) ? width - EDGE / 2 : EDGE / 2;
    write(table.row_names[row], x, place(row * table.columns)[1] + SIDE / 2);
  }
}

function one(view, at, [x, y]) {
  const { table, answer } = view;
  const cell = answer.board.cells[at];
  const moves = view.editing ? [] : movesAt(view, at);
  const legal = moves.length > 0;
  const picked = view.picked === at;
  const acts = legal || picked || view.editing;
  const name = [
    square(table, at),
    content(table, cell),
    picked && "picked up",
    legal && (view.hints ? `${moves[0].move}: ${words(moves[0], table)}` : "legal"),
  ];
  const group = svg(
    "g",
    {
      class: [
        "cell",
        acts && "acts",
        picked && "picked",
        view.marked.includes(at) && "marked",
        view.last.includes(at) && "last",
      ]
        .filter(Boolean)
        .join(" "),
      transform: `translate(${x} ${y})`,
      role: acts ? "button" : "img",
      tabindex: acts ? 0 : undefined,
      "aria-label": name.filter(Boolean).join(", "),
      "data-square": square(table, at),
      "data-key": `square ${at}`,
      onclick: acts ? () => view.onsquare(at) : undefined,
      onkeydown: acts ? (event) => press(event, () => view.onsquare(at)) : undefined,
    },
    svg("rect", { class: "square", width: SIDE, height: SIDE }),
  );
  if (cell) group.append(drawn(view, cell));
  if (legal) mark(group, view, moves, cell);
  return group;
}

function press(event, act) {
  if (event.key !== "Enter" && event.key !== " ") return;
  event.preventDefault();
  event.stopPropagation();
  act();
}

// A legal move: its value, or a dot where hints are off; a ring round the best, where that is known.
function mark(group, view, moves, cell) {
  const best = moves[0];
  const onPiece = cell !== "";
  // At the piece's tip, which has no letter: that of a piece turned round points down.
  const y = isTurned(view, cell) ? SIDE - 22 : 22;
  const [x, middle] = onPiece ? [SIDE - 33, y] : [SIDE / 2, SIDE / 2];
  if (!view.hints) {
    group.append(svg("circle", { class: "dot", cx: x, cy: middle, r: onPiece ? 8 : 12 }));
    return;
  }
  const text = badge(best);
  const [width, height] = onPiece ? [52, 32] : [text.length > 2 ? 82 : 66, 44];
  const isBest = grade(best) !== "open" && best.best;
  group.append(
    svg("rect", {
      class: `badge ${grade(best)}${isBest ? " best" : ""}`,
      x: x - width / 2,
      y: middle - height / 2,
      width,
      height,
      rx: height / 2,
    }),
    svg("text", { class: `on ${onPiece ? "small" : ""}`, x, y: middle + 1, "aria-hidden": "true" }, text),
  );
}

// Whether a piece points towards who sits before the board.
const isTurned = (view, cell) => isShogi(view.table) && isFirst(cell) === Boolean(view.flipped);

function drawn(view, cell) {
  const kind = piece(view.table, cell);
  const first = kind ? isFirst(cell) : cell === "X";
  const disc = () => svg("circle", { class: first ? "black" : "white", cx: SIDE / 2, cy: SIDE / 2, r: 41 });
  if (!kind) return disc();
  if (!isShogi(view.table)) {
    const letter = svg("text", { class: first ? "on-black" : "on-white", x: 50, y: 51, "aria-hidden": "true" }, kind.piece);
    return svg("g", {}, disc(), letter);
  }
  const text = view.kanji ? (kind.japanese ?? kind.piece) : kind.piece;
  return svg(
    "g",
    {
      class: `piece${kind.piece.startsWith("+") ? " promoted" : ""}${isFirst(cell) ? "" : " second"}`,
      transform: isTurned(view, cell) ? "rotate(180 50 50)" : undefined,
    },
    svg("path", { d: "M50 8 L78 24 L88 92 L12 92 L22 24 Z" }),
    svg("text", { x: 50, y: 62, "aria-hidden": "true" }, text),
  );
}

// What a player holds; a piece that can be dropped is a button.
function hand(view, side) {
  const { table, answer } = view;
  const held = answer.board.hands[side] ?? [];
  const isMover = table.sides[side] === answer.mover;
  const pieces = held.map(({ piece: letter, count }) => {
    const kind = piece(table, letter);
    const key = letter.toUpperCase();
    const moves = isMover ? answer.moves.filter((move) => move.dropped === key) : [];
    const text = view.kanji ? (kind?.japanese ?? letter) : key;
    const label = `${table.sides[side]} holds ${count} ${kind?.name ?? letter}`;
    const inside = [
      el("span", { class: "held" }, text),
      count > 1 && el("span", { class: "count" }, `×${count}`),
      view.hints && moves.length > 0 && el("span", { class: `chip ${grade(moves[0])}` }, badge(moves[0])),
    ];
    return moves.length
      ? el(
          "button",
          {
            type: "button",
            class: view.picked === key ? "picked" : undefined,
            "aria-pressed": String(view.picked === key),
            "aria-label": `${label}, drop it`,
            "data-key": `hand ${key}`,
            onclick: () => view.onhand(key),
          },
          inside,
        )
      : el("span", { role: "img", "aria-label": label }, inside);
  });
  return el(
    "div",
    { class: "hand", "data-hand": table.sides[side] },
    el("span", { class: "whose" }, `${table.sides[side]} holds`),
    pieces.length ? pieces : el("span", {}, "nothing"),
  );
}
