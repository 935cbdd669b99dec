// A position: its moves best first, best play, its notations, and the table that it is in.

import { counts } from "./api.js";
import { button, el, thousands } from "./dom.js";
import { badge, grade, limits, signed, words } from "./values.js";

// The moves beside the board. Without hints they stand in the order of the board, which tells nothing.
export function moves({ table, answer, hints, onmove, onmark }) {
  if (!answer.moves.length)
    return el("p", { class: "note" }, answer.kind === "terminal" ? "The game is over." : "There are no moves.");
  const listed = answer.moves.map((move, index) => ({ move, index }));
  if (!hints) listed.sort((one, other) => one.move.action - other.move.action);
  const scored = table.has_scores;
  const cells = (move) =>
    hints
      ? [
          el("td", {}, el("span", { class: `chip ${grade(move)}`, title: words(move, table) }, badge(move))),
          el("td", { class: "left" }, move.followed === false ? "outside" : (move.result ?? "not proven")),
          scored &&
            el(
              "td",
              {},
              typeof move.score === "number"
                ? signed(move.score)
                : `${signed(move.score_lower)} … ${signed(move.score_upper)}`,
            ),
          el("td", {}, move.distance ?? "–"),
        ]
      : [];
  const row = ({ move }) =>
    el(
      "tr",
      {
        onclick: () => onmove(move),
        onmouseenter: () => onmark(move),
        onmouseleave: () => onmark(null),
      },
      el(
        "th",
        { scope: "row" },
        button(
          move.move,
          (event) => {
            event.stopPropagation();
            onmove(move);
          },
          {
            class: "move",
            "data-key": `move ${move.move}`,
            "data-move": move.move,
            onfocus: () => onmark(move),
            onblur: () => onmark(null),
            "aria-label": hints ? `${move.move}, ${words(move, table)}` : move.move,
          },
        ),
      ),
      cells(move),
    );
  const heads = hints
    ? [
        el("th", {}, el("span", { class: "hidden" }, "value")),
        el("th", { class: "left" }, "result"),
        scored && el("th", {}, `${table.score_unit}s`),
        el("th", {}, "plies"),
      ]
    : [];
  return el(
    "div",
    { class: "wide moves" },
    el(
      "table",
      {},
      el("thead", {}, el("tr", {}, el("th", {}, "move"), heads)),
      el("tbody", {}, listed.map(row)),
    ),
  );
}

// Best play from here; a click goes to where a move leads.
export function bestLine({ answer, online }) {
  const line = answer.principal_variation;
  if (!line.length) return null;
  const repeats =
    typeof answer.repeats_from === "number" &&
    el("span", { class: "note" }, ` and so on for ever, from move ${answer.repeats_from + 1} of this line`);
  return el(
    "p",
    { class: "best-line" },
    el("span", {}, "Best play: "),
    line
      .map((move, at) => [
        button(move, () => online(line.slice(0, at + 1)), {
          class: "word",
          "data-key": `line ${at}`,
          "aria-label": `best play, move ${at + 1}: ${move}`,
        }),
        " ",
      ])
      .flat(),
    repeats,
  );
}

// The position in all notations, and what the table says of where it stands.
export function notations({ answer }) {
  const facts = [["kind", answer.kind], ...Object.entries(answer.notations)];
  if (typeof answer.reachable === "boolean")
    facts.push(["reachable", answer.reachable ? "yes" : "only as a mirror image"]);
  if (answer.in_check) facts.push(["check", "yes"]);
  return el(
    "dl",
    {},
    facts.flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, el("code", {}, text))]),
  );
}

const share = (count, all) => `${thousands(count)} (${((100 * count) / Math.max(all, 1)).toFixed(1)} %)`;

function summary(table) {
  const facts = [
    ["game", table.game],
    ["states", thousands(table.states)],
    ["complete", table.complete ? "yes, every state that can be reached" : `no: ${limits(table)}`],
  ];
  if (!table.is_layered) facts.push(["play without end", table.repetition.replaceAll("-", " ")]);
  return el(
    "dl",
    {},
    facts.flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]),
  );
}

// The counts of a table, asked for when they are wanted: a large one is read whole.
export function tablePanel(table, onroot) {
  const place = el("div", {});
  const show = async () => {
    place.replaceChildren(el("p", { class: "note" }, "Counting …"));
    try {
      place.replaceChildren(counted(await counts(table.table), table));
    } catch (refused) {
      place.replaceChildren(el("p", { class: "note" }, refused.message));
    }
  };
  const roots =
    table.roots.length > 1 &&
    el(
      "p",
      {},
      `${thousands(table.roots.length)} first positions: `,
      table.roots
        .slice(0, 50)
        .map((root, at) => [
          button(String(at + 1), () => onroot(root.position), {
            class: "word",
            "aria-label": `first position ${at + 1}, ${root.position}`,
          }),
          " ",
        ])
        .flat(),
    );
  return el("div", {}, summary(table), roots, button("Count", show), place);
}

function counted({ all, layers, histogram, longest }, table) {
  const row = (name, one) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, name),
      [one.states, one.wins, one.draws, one.losses].map((count) => el("td", {}, thousands(count))),
    );
  const proven = all.wins + all.draws + all.losses;
  const scores = Object.entries(histogram)
    .map(([score, count]) => [Number(score), count])
    .sort(([a], [b]) => a - b);
  const most = Math.max(...scores.map(([, count]) => count), 1);
  return el(
    "div",
    {},
    el(
      "p",
      {},
      `Of ${thousands(all.states)} states ${share(proven, all.states)} are proven. `,
      longest === null ? "" : `The longest game with an exact distance lasts ${longest} plies.`,
    ),
    el(
      "div",
      { class: "wide" },
      el(
        "table",
        {},
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            ["layer", "states", "won", "drawn", "lost"].map((name) => el("th", {}, name)),
          ),
        ),
        el(
          "tbody",
          {},
          layers.map((one) => row(String(one.layer), one)),
          row("all", all),
        ),
      ),
    ),
    table.has_scores &&
      el(
        "div",
        { class: "wide" },
        el(
          "table",
          {},
          el("thead", {}, el("tr", {}, el("th", {}, "score"), el("th", {}, "states"), el("th", {}))),
          el(
            "tbody",
            {},
            scores.map(([score, count]) => {
              const bar = el("td", { class: "bar" }, el("i", {}));
              bar.firstChild.style.width = `${(100 * count) / most}%`;
              return el(
                "tr",
                {},
                el("th", { scope: "row" }, signed(score)),
                el("td", {}, thousands(count)),
                bar,
              );
            }),
          ),
        ),
      ),
  );
}

// How many states are what, for the player to move.
function census({ states, wins, draws, losses }) {
  const open = states - wins - draws - losses;
  const proven = `won ${thousands(wins)}, drawn ${thousands(draws)}, lost ${thousands(losses)}`;
  return open ? `${proven}, not proven ${thousands(open)}` : proven;
}

// The tables to choose from, each with its first position and its counts.
export function tableList({ tables, unavailable }) {
  if (!tables.length && !unavailable.length) {
    return el(
      "p",
      {},
      "There are no tables here. Make one with ",
      el("code", {}, "solver enumerate"),
      " and ",
      el("code", {}, "solver value-iterate"),
      ".",
    );
  }
  const line = (table) => {
    const { outcomes } = table;
    const root = table.roots[0];
    const known =
      root?.outcome === null || root?.outcome === undefined
        ? "not proven"
        : words({ ...root, result: ["loss", "draw", "win"][root.outcome + 1] }, table);
    return el(
      "li",
      {},
      el(
        "a",
        { href: `#${encodeURIComponent(table.table)}` },
        el("strong", {}, table.table),
        el("span", {}, table.title),
        el(
          "span",
          { class: "note" },
          `${thousands(table.states)} states${table.complete ? "" : `, bounded: ${limits(table)}`}`,
        ),
        root && el("span", { class: "note" }, `from the start, for the player to move: ${known}`),
        outcomes && el("span", { class: "note" }, census(outcomes)),
      ),
    );
  };
  return el(
    "div",
    {},
    el("ul", { class: "tables" }, tables.map(line)),
    unavailable.length > 0 && el("h2", {}, "Not to be asked"),
    el(
      "ul",
      {},
      unavailable.map(({ table, error, hint }) =>
        el("li", {}, el("strong", {}, table), `: ${error}${hint ? `; ${hint}` : ""}`),
      ),
    ),
  );
}
