// The board: Othello's, shogi's and those of games with pieces of their own; legal moves with their values.

import { HOME, el, svg } from "./dom.js";
import { drawn as shape, isFirst, isOthello, isShogi, kindOf, piece } from "./pieces.js";
import { badge, grade, square, words } from "./values.js";

const SIDE = 100;
const EDGE = 40;

// The letters of compared policies, as lines: text would be part of the name of a square.
const GLYPHS = { A: "M-7 8L0 -8L7 8M-4 3H4", B: "M-5 -8V8H2a4.5 4.5 0 0 0 0 -9H-5M-5 -8H1a3.5 3.5 0 0 1 0 7" };

// Draws a position: how it is turned, what is picked up, and what clicks do.
export function board(view) {
  const { table, answer } = view;
  if (!answer.board.cells.length) return el("pre", { class: "diagram", tabindex: 0 }, answer.board.diagram);
  const hands = hasHands(view);
  const near = view.flipped ? 1 : 0;
  return el(
    "div",
    { class: "table" },
    hands && hand(view, 1 - near),
    squares(view),
    hands && hand(view, near),
  );
}

function hasHands({ table, answer }) {
  return table.pieces.length > 0 && (isShogi(table) || answer.board.hands.some((held) => held.length));
}

function content(table, cell) {
  if (!cell) return "empty";
  const kind = piece(table, cell);
  if (kind) return `${table.sides[isFirst(cell) ? 0 : 1]} ${kind.name}`;
  return `${table.sides[cell === "X" ? 0 : 1]} disc`;
}

// The moves that begin on a square: those of its piece, or those that place something there.
export function movesAt(view, at) {
  const moves = view.answer.moves;
  if (view.picked === null) {
    const from = moves.filter((move) => move.from === at);
    if (from.length || view.table.pieces.length) return from;
    return moves.filter((move) => move.from === null && (move.to === at || falls(view.table, move.to, at)));
  }
  return moves.filter((move) => move.to === at && isOf(view.picked, move));
}

// Returns whether what is put on a square falls from there to another: a whole column of Connect Four plays its move.
const falls = (table, to, at) => kindOf(table) === "connect-four" && to % table.columns === at % table.columns;

// Returns whether a move moves what is picked up: a square's number, or the letter of a piece in hand.
export function isOf(picked, move) {
  return typeof picked === "number" ? move.from === picked : move.dropped === picked;
}

// The square that is reached by Tab: the last one that had the focus, else the first with a move.
function entry(view) {
  const { cells } = view.answer.board;
  if (view.cursor !== null && view.cursor < cells.length) return view.cursor;
  const first = cells.findIndex((_, at) => movesAt(view, at).length > 0);
  return Math.max(first, 0);
}

function squares(view) {
  const { table, answer } = view;
  const { rows, columns } = table;
  const width = columns * SIDE + 2 * EDGE;
  const start = isShogi(table) ? EDGE - 4 : 0;
  const made = svg("svg", {
    class: `board ${kindOf(table)}`,
    viewBox: `${start} 0 ${width - EDGE + 4} ${rows * SIDE + EDGE + 4}`,
    role: "group",
    "aria-label": `${table.title}, ${rows} rows of ${columns}, ${answer.mover} to move`,
    onkeydown: (event) => arrows(event, view),
    onfocusin: (event) => view.onfocus(Number(event.target.dataset?.at)),
  });
  const place = (at) => {
    const [row, column] = [Math.floor(at / columns), at % columns];
    const turned = view.flipped ? [rows - 1 - row, columns - 1 - column] : [row, column];
    return [EDGE + turned[1] * SIDE, EDGE + turned[0] * SIDE];
  };
  labels(made, table, place);
  const tab = entry(view);
  for (let at = 0; at < rows * columns; at++) made.append(one(view, at, place(at), at === tab));
  made.append(svg("rect", { class: "frame", x: EDGE, y: EDGE, width: columns * SIDE, height: rows * SIDE }));
  if (isOthello(table) && rows >= 6 && columns >= 6) stars(made, table);
  if (view.arrows && view.hints) point(made, view, place);
  return made;
}

// Writes the names of columns and rows at the edge; `place` returns the corner of a square.
function labels(made, table, place) {
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
function stars(made, { rows, columns }) {
  for (const row of [2, rows - 2])
    for (const column of [2, columns - 2])
      made.append(svg("circle", { class: "star", cx: EDGE + column * SIDE, cy: EDGE + row * SIDE, r: 6 }));
}

// Arrows for the best moves; a ring where a move places something.
function point(made, view, place) {
  for (const move of view.answer.moves.filter((one) => one.best && one.to !== null && grade(one) !== "open")) {
    made.append(pointed(move, place));
  }
}

function pointed({ from, to }, corner) {
  const [x, y] = corner(to).map((edge) => edge + SIDE / 2);
  if (from === null) return svg("circle", { class: "arrow ring", cx: x, cy: y, r: 46 });
  const [fromX, fromY] = corner(from).map((edge) => edge + SIDE / 2);
  const length = Math.hypot(x - fromX, y - fromY);
  const [dx, dy] = [(x - fromX) / length, (y - fromY) / length];
  const at = (far, aside) => `${x - far * dx - aside * dy} ${y - far * dy + aside * dx}`;
  return svg("path", { class: "arrow", d: `M${at(length - 30, 0)}L${at(14, 0)}M${at(36, 14)}L${at(14, 0)}L${at(36, -14)}` });
}

// Arrow keys go from square to square, and beyond the board to the pieces in hand.
function arrows(event, view) {
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  const at = Number(event.target.closest("[data-at]")?.dataset.at);
  if (!step || Number.isNaN(at) || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  const { rows, columns } = view.table;
  const turn = view.flipped ? -1 : 1;
  const row = Math.floor(at / columns) + turn * step[0];
  const column = (at % columns) + turn * step[1];
  if (row < 0 || row >= rows) {
    const hands = [...document.querySelectorAll("#board .hand")];
    (step[0] < 0 ? hands[0] : hands.at(-1))?.querySelector("button")?.focus({ preventScroll: true });
    return;
  }
  if (column < 0 || column >= columns) return;
  const all = event.currentTarget.querySelectorAll("[data-at]");
  all[at].setAttribute("tabindex", -1);
  all[row * columns + column].setAttribute("tabindex", 0);
  all[row * columns + column].focus({ preventScroll: true });
}

function one(view, at, [x, y], isEntry) {
  const { table, answer } = view;
  const cell = answer.board.cells[at];
  const moves = view.editing ? [] : movesAt(view, at);
  const isColumn = moves.length > 0 && moves[0].from === null && moves[0].to !== at;
  const legal = moves.length > 0 && !isColumn;
  const picked = view.picked === at;
  const acts = moves.length > 0 || picked || view.editing;
  const isLast = view.last.includes(at);
  const isFlipped = view.turnedOver.includes(at);
  const king = table.pieces[0]?.piece ?? "";
  const isChecked = answer.in_check && cell && cell === (answer.mover === table.sides[0] ? king : king.toLowerCase());
  const wanted = view.compared.filter(({ move }) => move.to === at);
  const name = [
    square(table, at),
    content(table, cell),
    isChecked && "in check",
    picked && "picked up",
    legal && (view.hints ? `${moves[0].move}: ${words(moves[0], table)}, ${badge(moves[0])}` : "legal"),
    isLast && "last move",
    isFlipped && "turned over",
    isColumn && `plays ${moves[0].move}`,
    view.won.includes(at) && "in the winning row",
    wanted.length && `preferred by ${wanted.map((one) => one.name).join(" and ")}`,
  ];
  const group = svg(
    "g",
    {
      class: [
        "cell",
        acts && "acts",
        picked && "picked",
        view.marked.includes(at) && "marked",
        isLast && "last",
        isChecked && "check",
        legal && typeof moves[0].from === "number" && view.picked === null && "takes",
      ]
        .filter(Boolean)
        .join(" "),
      transform: `translate(${x} ${y})`,
      role: acts ? "button" : "img",
      tabindex: isEntry ? 0 : -1,
      "aria-label": name.filter(Boolean).join(", "),
      "data-square": square(table, at),
      "data-at": at,
      "data-key": `square ${at}`,
      onclick: acts ? () => view.onsquare(at) : undefined,
      onkeydown: acts ? (event) => press(event, () => view.onsquare(at)) : undefined,
      onpointerdown: acts && !view.editing && view.picked === null ? (event) => drag(event, view, at) : undefined,
    },
    svg("rect", { class: "square", width: SIDE, height: SIDE }),
  );
  if (cell) group.append(drawn(view, cell, at));
  if (isLast && cell && isOthello(table) && view.to === at) group.append(svg("circle", { class: "last-dot", cx: 50, cy: 50, r: 9 }));
  if (isFlipped && cell) group.append(svg("circle", { class: "flipped-dot", cx: 50, cy: 50, r: 7 }));
  if (view.won.includes(at)) group.append(svg("circle", { class: "arrow ring", cx: 50, cy: 50, r: 41 }));
  if (legal) mark(group, view, moves, cell);
  wanted.forEach(({ letter }) => {
    const middle = letter === "A" ? 18 : 82;
    group.append(
      svg("rect", { class: `wanted ${letter}`, x: middle - 12, y: 74, width: 24, height: 23, rx: letter === "A" ? 11.5 : 3 }),
      svg("path", { class: "wanted-letter", d: GLYPHS[letter], transform: `translate(${middle} 86) scale(0.8)` }),
    );
  });
  group.append(svg("rect", { class: "focus", x: 4, y: 4, width: SIDE - 8, height: SIDE - 8, rx: 4 }));
  return group;
}

function press(event, act) {
  if (event.key !== "Enter" && event.key !== " ") return;
  event.preventDefault();
  event.stopPropagation();
  act();
}

// Drags a piece: from a square, or from a hand by its letter. A short movement is a click.
export function drag(event, view, what) {
  if (event.button !== 0) return;
  const moves = view.answer.moves.filter((move) => isOf(what, move));
  if (!moves.length) return;
  const start = [event.clientX, event.clientY];
  const source = event.currentTarget;
  const shape = source.querySelector(".piece");
  const board = document.querySelector("svg.board");
  let ghost = null;
  const over = ({ clientX, clientY }) => document.elementFromPoint(clientX, clientY)?.closest("[data-at]");
  function move(at) {
    const far = Math.hypot(at.clientX - start[0], at.clientY - start[1]) > 6;
    if (!ghost && !far) return;
    if (!ghost) {
      const side = board.querySelector(".square").getBoundingClientRect().width;
      ghost = svg("svg", { class: `board ghost ${board.classList[1]}`, viewBox: "0 0 100 100", width: side, height: side });
      ghost.append(shape.cloneNode(true));
      document.body.append(ghost);
      source.classList.add("dragged");
      moves.forEach((one) => board.querySelector(`[data-at="${one.to}"]`)?.classList.add("target"));
    }
    ghost.style.left = `${at.clientX}px`;
    ghost.style.top = `${at.clientY}px`;
    at.preventDefault();
  }
  function end(at) {
    removeEventListener("pointermove", move);
    removeEventListener("pointerup", end);
    removeEventListener("pointercancel", end);
    if (!ghost) return;
    ghost.remove();
    source.classList.remove("dragged");
    board.querySelectorAll(".target").forEach((one) => one.classList.remove("target"));
    const square = at.type === "pointerup" && over(at);
    // The click that follows on the same element must not pick the piece up.
    addEventListener("click", (click) => click.stopPropagation(), { capture: true, once: true });
    setTimeout(() => view.ondrop(what, square ? Number(square.dataset.at) : null), 0);
  }
  addEventListener("pointermove", move);
  addEventListener("pointerup", end);
  addEventListener("pointercancel", end);
}

// A legal move: its value, or a dot without hints; a ring around the best ones. A piece that can move has
// a line below it, so that no letter stands on another.
function mark(group, view, moves, cell) {
  const best = moves[0];
  const known = view.hints ? grade(best) : "none";
  if (typeof best.from === "number" && view.picked === null) {
    group.append(svg("rect", { class: `can ${known}`, x: 30, y: 94, width: 40, height: 5, rx: 2 }));
    return;
  }
  const onPiece = cell !== "";
  const [x, y] = onPiece ? [SIDE - 31, 17] : [SIDE / 2, SIDE / 2];
  const text = badge(best);
  if (!view.hints || !text) {
    group.append(svg("circle", { class: "dot", cx: x, cy: y, r: onPiece ? 8 : 12 }));
    return;
  }
  const width = (onPiece ? 46 : 66) + (text.length > 2 ? 12 : 0);
  const height = onPiece ? 30 : 42;
  group.append(
    svg("rect", {
      class: `badge ${known}${best.best ? " best" : ""}`,
      x: x - width / 2,
      y: y - height / 2,
      width,
      height,
      rx: height / 2,
    }),
    svg("text", { class: onPiece ? "on small" : "on", x, y: y + 1, "aria-hidden": "true" }, text),
  );
}

// Discs that were turned over turn as one looks, one after another.
function drawn(view, cell, at) {
  // Shogi's pieces point to the opponent: those of the far side are upside down.
  const isTurned = isShogi(view.table) && isFirst(cell) === Boolean(view.flipped);
  const made = shape(view.table, cell, { isTurned, kanji: view.kanji });
  if (view.isAnimated && view.turnedOver.includes(at) && !piece(view.table, cell)) {
    made.classList.add("turned-over");
    made.style.animationDelay = `${60 * view.distance(at)}ms`;
  }
  return made;
}

// Arrow keys go along a hand, and up or down back to the board.
function alongHand(event) {
  const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: 0, ArrowDown: 0 }[event.key];
  if (by === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  const all = [...event.currentTarget.querySelectorAll("button")];
  const next = by ? all[all.indexOf(document.activeElement) + by] : document.querySelector(HOME);
  next?.focus({ preventScroll: true });
}

// The pieces in a player's hand; one that can be dropped is a button.
function hand(view, side) {
  const { table, answer } = view;
  const held = answer.board.hands[side] ?? [];
  const isMover = table.sides[side] === answer.mover;
  const pieces = held.map(({ piece: letter, count }) => {
    const kind = piece(table, letter);
    const key = letter.toUpperCase();
    const moves = isMover && !view.editing ? answer.moves.filter((move) => move.dropped === key) : [];
    const label = `${table.sides[side]} holds ${count} ${kind?.name ?? letter}`;
    const held = shape(table, side ? key.toLowerCase() : key, { kanji: view.kanji });
    const drawing = svg("svg", { class: "board held-piece", viewBox: "0 0 100 100", "aria-hidden": "true" }, held);
    const beside = [
      count > 1 && el("span", { class: "count" }, `×${count}`),
      view.hints && moves.length > 0 && badge(moves[0]) && el("span", { class: `chip ${grade(moves[0])}`, title: words(moves[0], table) }, badge(moves[0])),
    ];
    if (!moves.length) return el("span", { role: "img", "aria-label": label }, drawing, beside);
    const attributes = {
      type: "button",
      class: view.picked === key ? "picked" : undefined,
      "aria-pressed": String(view.picked === key),
      "aria-label": `${label}, drop it`,
      "data-key": `hand ${key}`,
      tabindex: -1,
      onclick: () => view.onhand(key),
      onpointerdown: (event) => drag(event, view, key),
    };
    return el("span", { class: "held" }, el("button", attributes, drawing), beside);
  });
  return el(
    "div",
    { class: "hand", "data-hand": table.sides[side], onkeydown: alongHand },
    el("span", { class: "whose" }, `${table.sides[side]} holds`),
    pieces.length ? pieces : el("span", {}, "nothing"),
  );
}
