// Drawings of discs and pieces, each in a square of 100 by 100.

import { svg } from "./dom.js";

// Shapes of the symbols of shogi's pieces, by English name without "promoted".
const SYMBOLS = {
  king: "M30 72 L24 38 L38 50 L50 30 L62 50 L76 38 L70 72 Z",
  rook: "M30 74 V64 H35 V48 H29 V34 H38 V41 H45 V34 H55 V41 H62 V34 H71 V48 H65 V64 H70 V74 Z",
  bishop: "M34 74 V67 H42 C30 58 38 42 50 30 C62 42 70 58 58 67 H66 V74 Z M48 44 H52 V50 H57 V54 H52 V61 H48 V54 H43 V50 H48 Z",
  gold: "M50 30 L70 40 V56 C70 66 60 72 50 76 C40 72 30 66 30 56 V40 Z",
  silver: "M50 30 L70 40 V56 C70 66 60 72 50 76 C40 72 30 66 30 56 V40 Z M50 39 L38 45 V56 C38 61 44 65 50 67 C56 65 62 61 62 56 V45 Z",
  knight: "M34 74 C34 62 44 58 45 50 L34 56 L28 49 L42 34 L52 30 C66 34 70 50 68 74 Z",
  lance: "M50 26 L61 46 H54 V76 H46 V46 H39 Z",
  pawn: "M36 74 V67 H42 C46 60 46 56 44 53 C38 49 38 39 45 36 C48 34 52 34 55 36 C62 39 62 49 56 53 C54 56 54 60 58 67 H64 V74 Z",
};
const AS = { horse: "bishop", dragon: "rook", tokin: "pawn" };

// The steps of animal shogi's pieces, as dots at the edge: columns and rows from −1 to 1.
const AROUND = [[-1, -1], [0, -1], [1, -1], [-1, 0], [1, 0], [-1, 1], [0, 1], [1, 1]];
const STEPS = {
  lion: AROUND,
  elephant: AROUND.filter(([x, y]) => x && y),
  giraffe: AROUND.filter(([x, y]) => !x || !y),
  chick: [[0, -1]],
  hen: AROUND.filter(([x, y]) => !(x && y > 0)),
};

const circle = (fill, cx, cy, r, more) => svg("circle", { class: fill, cx, cy, r, ...more });
const path = (fill, d) => svg("path", { class: fill, d });
const eyes = (dx, y, r = 3.2) => [circle("a-ink", 50 - dx, y, r), circle("a-ink", 50 + dx, y, r)];

const ANIMALS = {
  lion: () => [
    ...Array.from({ length: 10 }, (_, at) => {
      const angle = (Math.PI * at) / 5;
      return circle("a-mane", 50 + 20 * Math.cos(angle), 52 + 20 * Math.sin(angle), 9);
    }),
    circle("a-gold", 50, 52, 19),
    ...eyes(7, 48),
    path("a-ink", "M45 55 h10 l-5 6 Z"),
    path("a-line", "M50 61 v3 M43 64 q4 5 7 0 q4 5 7 0"),
  ],
  elephant: () => [
    circle("a-grey", 29, 50, 13),
    circle("a-grey", 71, 50, 13),
    circle("a-pink", 29, 50, 7),
    circle("a-pink", 71, 50, 7),
    circle("a-grey", 50, 48, 19),
    ...eyes(8, 44),
    path("a-grey a-edge", "M44 52 C43 66 44 76 55 77 C61 77 62 71 58 70 C54 71 55 62 56 52 Z"),
  ],
  giraffe: () => [
    path("a-line", "M44 34 V26 M56 34 V26"),
    circle("a-mane", 44, 25, 3.5),
    circle("a-mane", 56, 25, 3.5),
    path("a-gold", "M31 38 L40 36 L40 44 Z M69 38 L60 36 L60 44 Z"),
    path("a-gold", "M38 34 H62 L60 58 C60 78 40 78 40 58 Z"),
    circle("a-mane", 45, 38, 3),
    circle("a-mane", 56, 41, 3.5),
    ...eyes(6, 48),
    circle("a-ink", 46, 67, 1.6),
    circle("a-ink", 54, 67, 1.6),
  ],
  chick: () => [
    circle("a-yellow", 50, 53, 21),
    path("a-line", "M50 32 q-3 -8 -7 -7 M50 32 q1 -8 5 -8"),
    ...eyes(8, 48),
    path("a-orange", "M44 55 H56 L50 62 Z"),
  ],
  hen: () => [
    path("a-red", "M38 36 C36 24 45 25 46 30 C47 22 54 22 54 30 C56 25 64 26 62 36 Z"),
    circle("a-white", 50, 53, 20),
    ...eyes(8, 48),
    path("a-orange", "M43 54 H57 L50 61 Z"),
    path("a-red", "M46 62 H54 L50 71 Z"),
  ],
};

export function disc(isFirst) {
  return svg("circle", { class: isFirst ? "black" : "white", cx: 50, cy: 50, r: 41 });
}

// A game's own piece: a letter on a disc.
export function lettered(isFirst, letter) {
  const text = { class: isFirst ? "on-black" : "on-white", x: 50, y: 51, "aria-hidden": "true" };
  return svg("g", {}, disc(isFirst), svg("text", text, letter));
}

// One of shogi's pieces, with a drawing of its own, its kanji, or a symbol.
export function shogi({ kind, isFirst, isTurned, kanji }) {
  const animal = ANIMALS[kind.name];
  const isPromoted = kind.piece.startsWith("+");
  const name = kind.name.replace("promoted ", "");
  const symbol = SYMBOLS[AS[name] ?? name];
  const inside = [];
  if (animal && !kanji) inside.push(...animal(), ...steps(kind.name));
  else if (kanji && kind.japanese) inside.push(glyph(kind.japanese, "kanji"));
  else if (symbol) {
    inside.push(svg("path", { class: "symbol", "fill-rule": "evenodd", d: symbol }));
    if (isPromoted) inside.push(svg("path", { class: "symbol", d: "M36 82 H64 V86 H36 Z" }));
  } else inside.push(glyph(kind.piece, ""));
  return svg(
    "g",
    {
      class: ["piece", isPromoted && "promoted", !isFirst && "second", animal && "animal"].filter(Boolean).join(" "),
      transform: isTurned ? "rotate(180 50 50)" : undefined,
    },
    animal && !kanji
      ? svg("rect", { class: "body", x: 7, y: 7, width: 86, height: 86, rx: 14 })
      : svg("path", { class: "body", d: "M50 7 L78 22 L89 93 L11 93 L22 22 Z" }),
    inside,
  );
}

const glyph = (text, kind) => svg("text", { class: kind, x: 50, y: 59, "aria-hidden": "true" }, text);

function steps(name) {
  return (STEPS[name] ?? []).map(([x, y]) => circle("a-step", 50 + 36 * x, 50 + 36 * y, 3.6));
}
