// Pieces of a game. They are drawn by the server, which sends them as groups named GAME-CELL.

import { svg } from "./dom.js";

// Returns whether the pieces are those of shogi, with Japanese names, and point to the opponent.
export const isShogi = (table) => table.pieces.some((kind) => kind.japanese);

export const isOthello = (table) => table.game.startsWith("othello");

// Games whose boards have colours of their own, apart from shogi.
const KINDS = ["othello", "connect-four"];

export const kindOf = (table) => (isShogi(table) ? "shogi" : (KINDS.find((kind) => table.game.startsWith(kind)) ?? "plain"));

// The first player's pieces are capital letters.
export const isFirst = (cell) => cell === cell.toUpperCase();

export const piece = (table, cell) => table.pieces.find((kind) => kind.piece === cell.toUpperCase());

// Returns the drawing of a square's content.
export function drawn(table, cell, { isTurned = false, kanji = false } = {}) {
  const name = kanji && piece(table, cell)?.japanese ? `${cell}-kanji` : cell;
  return svg("use", { class: "piece", href: `#${table.game}-${name}`, transform: isTurned ? "rotate(180 50 50)" : undefined });
}

// Puts the pieces of tables where drawings find them.
export function provide(tables) {
  const known = document.getElementById("pieces");
  for (const { game, drawings } of tables) {
    if ([...known.children].some((one) => one.dataset.game === game)) continue;
    const parsed = pictured(drawings);
    parsed.dataset.game = game;
    known.append(parsed);
  }
}

// Makes an element of a picture that the server drew.
export const pictured = (text) => document.importNode(new DOMParser().parseFromString(text, "text/html").body.firstElementChild, true);
