// The start page: a card for each table.

import { pictured } from "./pieces.js";
import { el, thousands } from "./dom.js";
import { limits, verdict } from "./values.js";

// The rules of known games, each in a sentence.
const RULES = [
  [/^othello/, "Enclose a line of the opponent’s discs to turn them over; whoever has more discs at the end wins."],
  [/^animal-shogi-3x3/, "Take the lion, or bring your own safely to the far row; captured pieces return to the board as yours."],
  [/^animal-shogi/, "Take the lion, or bring your own safely to the far row; captured pieces return to the board as yours."],
  [/^minishogi/, "Shogi on a board of five by five: mate the king; captured pieces return to the board as yours."],
  [/^tic-tac-toe/, "As many of your marks in a line as the title says win."],
  [/connect-?four/, "Four of your discs in a row win; discs fall to the lowest free square."],
  [/morris/, "Three of your pieces in a row win; once all are placed, they move to a neighbouring square."],
];

const rules = (table) => RULES.find(([name]) => name.test(table.game))?.[1];

const address = (...parts) => `#${parts.map(encodeURIComponent).join("/")}`;

// Numbers of rows won, drawn and lost for the player to move.
function census({ states, wins, draws, losses }) {
  const open = states - wins - draws - losses;
  const proven = `won ${thousands(wins)}, drawn ${thousands(draws)}, lost ${thousands(losses)}`;
  return open ? `${proven}, not proven ${thousands(open)}` : proven;
}

function winner(table) {
  const [root] = table.roots;
  if (!root || root.outcome === null || root.outcome === undefined || !table.mover) return "Who wins is not proven";
  const result = ["loss", "draw", "win"][root.outcome + 1];
  return `${verdict({ ...root, result, mover: table.mover, kind: "interior", distance: null }, table)} with best play`;
}

// Links to play a game, and to explore it from its first position.
const ways = (name, root) =>
  el(
    "div",
    { class: "row" },
    el("a", { class: "button primary", href: address(name), "aria-label": `Play ${name}` }, "Play"),
    el("a", { class: "button", href: address(name, root), "aria-label": `Explore ${name}` }, "Explore"),
  );

// Games without a table that most people look for, and the families of all others.
const KNOWN = ["othello-8x8", "othello-6x6", "connect-four", "minishogi", "animal-shogi", "tic-tac-toe"];
const FAMILIES = [["othello-", "Othello"], ["connect-four-", "Connect Four"], ["tic-tac-toe-", "Tic-tac-toe"]];

function untabled(games, about) {
  const families = new Map();
  const known = (game) => KNOWN.includes(game) || !FAMILIES.some(([begin]) => game.startsWith(begin));
  for (const { game } of games.filter((one) => !known(one.game))) {
    const [begin, name] = FAMILIES.find(([start]) => game.startsWith(start));
    if (!families.has(name)) families.set(name, []);
    families.get(name).push([game, game.slice(begin.length)]);
  }
  const card = ({ game, title }) => {
    const [thumb, wins] = [el("div", { class: "thumb" }), el("p", { class: "wins" })];
    about(game, (table) => {
      if (table.picture) thumb.append(pictured(table.picture));
      if (table.roots.length) wins.append(`${winner(table)}, by a solution that comes with the program`);
    });
    return el(
      "li",
      { class: "game-card" },
      thumb,
      el("div", { class: "about" }, el("h2", {}, title, " ", el("small", {}, game)), rules({ game }) && el("p", {}, rules({ game })), wins),
      ways(game, "start"),
    );
  };
  return [
    el("h2", {}, "Other games"),
    el("p", { class: "note" }, "Their values are exact near the end, by search; before that they are estimates, marked ≈. A command solves a game whole: ", el("code", {}, "solver solve 4x5"), "."),
    el("ul", { class: "tables" }, games.filter(({ game }) => known(game)).map(card)),
    families.size > 0 &&
      el(
        "details",
        {},
        el("summary", {}, "Other sizes"),
        el(
          "dl",
          {},
          [...families].flatMap(([name, all]) => [
            el("dt", {}, name),
            el("dd", {}, all.flatMap(([game, size]) => [el("a", { href: address(game), "aria-label": `Play ${game}` }, size), " "])),
          ]),
        ),
      ),
  ];
}

// The start page; `about` gives what is known of a game without a table, once it is there.
export function start({ tables, unavailable, games }, about) {
  const facts = (table) =>
    [
      `${thousands(table.states)} states`,
      table.complete ? "every reachable state" : `bounded: ${limits(table)}`,
      table.outcomes && `for the player to move: ${census(table.outcomes)}`,
    ]
      .filter(Boolean)
      .map((fact) => el("li", {}, fact));
  const card = (table) => {
    const name = `name-${table.table}`;
    const root = table.roots[0]?.position ?? "start";
    return el(
      "li",
      { class: "game-card" },
      el("div", { class: "thumb" }, table.picture ? pictured(table.picture) : null),
      el(
        "div",
        { class: "about" },
        el("h2", { id: name }, table.title, " ", el("small", {}, table.table)),
        rules(table) && el("p", {}, rules(table)),
        el("p", { class: "wins" }, winner(table)),
      ),
      ways(table.table, root),
      el("details", {}, el("summary", {}, el("span", { class: "hidden" }, `${table.table}: `), "Counts"), el("ul", {}, facts(table))),
    );
  };
  const solved = tables.filter(({ states }) => states !== null);
  return el(
    "div",
    {},
    solved.length > 0 && el("h2", {}, "Solved games"),
    el("ul", { class: "tables" }, solved.map(card)),
    games.length > 0 && untabled(games, about),
    unavailable.length > 0 && el("h2", {}, "Tables that cannot be opened"),
    unavailable.length > 0 &&
      el(
        "ul",
        {},
        unavailable.map(({ table, error, hint }) =>
          el("li", {}, el("strong", {}, table), `: ${error}${hint ? `; ${hint}` : ""}`),
        ),
      ),
  );
}
