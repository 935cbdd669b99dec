// Openings: the values of the first moves of a table and of the replies to them.

import { chip } from "./card.js";
import { position } from "./api.js";
import { button, el } from "./dom.js";
import { words } from "./values.js";
import { turns } from "./setup.js";

// All mirror images of the board as lists of squares, the one that changes nothing first.
function symmetries(table) {
  const all = [Array.from({ length: table.rows * table.columns }, (_, at) => at)];
  for (const known of all) {
    for (const [, from] of turns(table)) {
      const made = from.map((at) => known[at]);
      if (!all.some((one) => one.every((at, to) => at === made[to]))) all.push(made);
    }
  }
  return all;
}

// The moves of a position, each with how many there are of it: mirror images are counted together.
export function distinct(table, { board, moves }) {
  if (!board.cells.length) return moves.map((move) => ({ move, count: 1 }));
  const same = symmetries(table).filter((image) => image.every((at, to) => board.cells[at] === board.cells[to]));
  const key = (move, image) => {
    if (move.from === null && move.to === null) return move.move;
    const squares = [move.from, move.to].map((at) => (at === null ? "" : image[at]));
    return [...squares, move.dropped ?? "", move.move.endsWith("+")].join();
  };
  const found = new Map();
  for (const move of moves) {
    const known = same.map((image) => found.get(key(move, image))).find(Boolean);
    if (known) known.count += 1;
    else found.set(key(move, same[0]), { move, count: 1 });
  }
  return [...found.values()];
}

// The first moves, asked for when the part is opened; `online` gets the line that is clicked.
export function openings(table, online) {
  const place = el("div", {}, el("p", { class: "note" }, table.rows ? "Mirror images are listed once." : "Each move with the replies to it."));
  const details = el("details", { ontoggle: show }, el("summary", {}, "Openings"), place);
  function show() {
    if (details.open && place.childElementCount === 1) grow(table, place, "", [], online);
  }
  return details;
}

async function grow(table, place, at, line, online) {
  try {
    const answer = await position(table.table, at);
    const rows = distinct(table, answer).map((one) => row(table, one, line, online));
    place.append(rows.length ? el("ul", { class: "openings" }, rows) : el("p", { class: "note" }, "The game is over."));
  } catch (refused) {
    place.append(el("p", { class: "note" }, refused.message));
  }
}

function row(table, { move, count }, before, online) {
  const line = [...before, move.move];
  const place = el("div", {});
  const more = button("+", open, { class: "more", "aria-expanded": "false", "aria-label": `replies to ${line.join(" ")}` });
  function open() {
    const wanted = more.getAttribute("aria-expanded") === "false";
    more.setAttribute("aria-expanded", String(wanted));
    more.textContent = wanted ? "\u2212" : "+";
    place.hidden = !wanted;
    if (wanted && !place.childElementCount) grow(table, place, move.position, line, online);
  }
  return el(
    "li",
    {},
    el(
      "div",
      { class: "row" },
      more,
      button(`${line.length}. ${move.move}`, () => online(line), {
        "aria-label": `${line.length}. ${move.move}, after ${before.join(" ") || "the start"}: ${words(move, table)}`,
      }),
      chip(move, table),
      count > 1 && el("span", { class: "note" }, `${count} alike`),
    ),
    place,
  );
}
