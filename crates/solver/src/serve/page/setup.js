// Setting up a position: by any notation, or piece by piece on the board.

import { button, el, select } from "./dom.js";

// A field for a position in any notation, or a game in any form; a file may be chosen too.
export function paste(position, ontext) {
  const field = el("textarea", {
    name: "position",
    rows: 1,
    value: position,
    spellcheck: "false",
    autocomplete: "off",
    "data-key": "position",
    "aria-label": "a position (a board in one line, or start), or a game: its moves, or a file of another program",
    onkeydown: (event) => {
      if (event.key !== "Enter" || event.shiftKey) return;
      event.preventDefault();
      ontext(field.value.trim());
    },
  });
  const file = el("input", { type: "file", "aria-label": "a file of games", onchange: () => file.files.length && ontext(file.files[0]) });
  return el(
    "form",
    {
      class: "paste",
      onsubmit: (event) => {
        event.preventDefault();
        ontext(field.value.trim());
      },
    },
    el("label", {}, el("span", {}, "Position or game"), field),
    el("button", { type: "submit", "data-key": "go" }, "Go"),
    el("label", {}, el("span", {}, "or a file"), file),
  );
}

// Returns whether the game reads positions in the notation that this page writes.
export const canWrite = (answer) => "obf" in answer.notations || "sfen" in answer.notations;

// Symmetries under which play stays the same, by name: the square from which each square comes.
// Only Othello's boards can be turned: in shogi the players have their own ends.
export function turns({ rows, columns, pieces }) {
  const squares = Array.from({ length: rows * columns }, (_, at) => [Math.floor(at / columns), at % columns]);
  const mirror = ["Mirror", squares.map(([row, column]) => row * columns + columns - 1 - column)];
  if (pieces.length) return [mirror];
  const turn =
    rows === columns
      ? ([row, column]) => (rows - 1 - column) * columns + row
      : ([row, column]) => (rows - 1 - row) * columns + columns - 1 - column;
  return [mirror, ["Turn", squares.map(turn)]];
}

// The mirror images to choose from: with them, one after another, all that leave a position as it is to play.
export function images(table, answer) {
  return turns(table).map(([name, from]) => {
    const made = new Setup(table, answer);
    made.cells = from.map((at) => answer.board.cells[at]);
    return [name, made.notation];
  });
}

// A board that is being set up.
export class Setup {
  constructor(table, answer) {
    const { cells, hands } = answer.board;
    this.table = table;
    this.cells = [...cells];
    this.hands = hands.map((held) =>
      Object.fromEntries(held.map(({ piece, count }) => [piece.toUpperCase(), count])),
    );
    this.side = table.sides.indexOf(answer.mover);
    this.brush = this.brushes()[1][0];
  }

  // Contents of a square to choose from, with their names.
  brushes() {
    const { pieces, sides } = this.table;
    if (!pieces.length)
      return [
        ["", "empty"],
        ["X", `${sides[0]} disc`],
        ["O", `${sides[1]} disc`],
      ];
    return [
      ["", "empty"],
      ...[0, 1].flatMap((side) =>
        pieces.map(({ piece, name }) => [side ? piece.toLowerCase() : piece, `${sides[side]} ${name}`]),
      ),
    ];
  }

  put(at) {
    this.cells[at] = this.brush;
  }

  // The position with what was set up, to be drawn.
  drawn(answer) {
    const hands = this.hands.map((held, side) =>
      Object.entries(held)
        .filter(([, count]) => count > 0)
        .map(([piece, count]) => ({ piece: side ? piece.toLowerCase() : piece, count })),
    );
    return {
      ...answer,
      mover: this.table.sides[this.side],
      moves: [],
      in_check: false,
      board: { ...answer.board, cells: this.cells, hands },
    };
  }

  // It in one line: discs as rows of X, O and -, pieces as SFEN.
  get notation() {
    const { rows, columns, pieces } = this.table;
    if (!pieces.length) return `${this.cells.map((cell) => cell || "-").join("")} ${this.side ? "O" : "X"};`;
    const lines = Array.from({ length: rows }, (_, row) =>
      this.cells
        .slice(row * columns, (row + 1) * columns)
        .map((cell) => cell || "1")
        .join("")
        .replace(/1+/g, (run) => run.length),
    );
    const held = this.hands
      .map((hand, side) =>
        Object.entries(hand)
          .filter(([, count]) => count > 0)
          .map(([piece, count]) => (count > 1 ? count : "") + (side ? piece.toLowerCase() : piece))
          .join(""),
      )
      .join("");
    return `${lines.join("/")} ${this.side ? "w" : "b"} ${held || "-"} 1`;
  }

  // The panel: content to put, pieces in hand, player to move.
  panel(redraw, done, cancel) {
    const { sides, pieces } = this.table;
    const counts = sides.map((side, number) =>
      el(
        "fieldset",
        {},
        el("legend", {}, `${side} holds`),
        pieces
          .filter(({ piece }) => !piece.startsWith("+"))
          .map(({ piece, name }) => {
            const field = el("input", {
              type: "number",
              min: 0,
              max: 18,
              value: this.hands[number][piece] ?? 0,
              "data-key": `held ${number} ${piece}`,
              onchange: () => {
                this.hands[number][piece] = Math.max(0, Math.min(18, Math.trunc(Number(field.value)) || 0));
                redraw();
              },
            });
            return el("label", {}, el("span", {}, name), field);
          }),
      ),
    );
    return el(
      "div",
      { class: "setup" },
      el("p", { class: "note" }, "Choose what to put, then click squares."),
      el(
        "div",
        { class: "row" },
        select("Put", this.brushes(), this.brush, (brush) => {
          this.brush = brush;
        }),
        select(
          "To move",
          sides.map((side, number) => [String(number), side]),
          String(this.side),
          (side) => {
            this.side = Number(side);
            redraw();
          },
        ),
      ),
      pieces.length > 0 && counts,
      el(
        "div",
        { class: "row" },
        button("Use it", () => done(this.notation)),
        button("Cancel", cancel),
      ),
    );
  }
}
