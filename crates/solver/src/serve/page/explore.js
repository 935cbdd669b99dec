// A position: its moves best first, best play, its notations, and the table that it is in.

import { counts } from "./api.js";
import { chip } from "./card.js";
import { button, el, thousands } from "./dom.js";
import { bounds, cost, grade, limits, signed, words } from "./values.js";

// The name of a group of moves by the bounds of their outcomes.
function groupOf(move, mover, { states }) {
  const known = grade(move);
  if (known !== "open") return { win: `Won for ${mover}`, draw: "Drawn", loss: `Lost for ${mover}` }[known];
  if (move.followed === false) return states === null ? "Not proven" : "Outside the table";
  const [lower, upper] = bounds(move);
  return lower === 0 ? "At least a draw" : upper === 0 ? "At most a draw" : "Not proven";
}

// The moves beside the board in groups as in a tablebase, best first. Without hints they are buttons in the order
// of the board.
export function moves({ table, answer, hints, onmove, onmark }) {
  if (!answer.moves.length) return el("p", { class: "note" }, "The game is over.");
  const groups = [];
  for (const move of answer.moves) {
    const name = groupOf(move, answer.mover, table);
    if (groups.at(-1)?.name !== name) groups.push({ name, grade: grade(move), moves: [] });
    groups.at(-1).moves.push(move);
  }
  const choice = (move, attributes) =>
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
        ...attributes,
      },
    );
  if (!hints) {
    const listed = answer.moves.toSorted((one, other) => one.action - other.action);
    const marks = (move) => ({ onmouseenter: () => onmark(move), onmouseleave: () => onmark(null) });
    return el("div", { class: "row choices" }, listed.map((move) => choice(move, marks(move))));
  }
  const cells = (move) => {
    const lost = cost(answer.moves[0], move, table.score_unit);
    return [
      el("td", {}, chip(move, table)),
      el("td", {}, move.distance ?? "–"),
      el("td", { class: "left" }, lost ? el("span", { class: "lost" }, lost.text) : move.best && grade(move) !== "open" ? "best" : ""),
    ];
  };
  const row = (move) =>
    el(
      "tr",
      {
        class: "move-row",
        onclick: () => onmove(move),
        onmouseenter: () => onmark(move),
        onmouseleave: () => onmark(null),
      },
      el(
        "th",
        { scope: "row" },
        choice(move, { "aria-label": `${move.move}, ${words(move, table)}` }),
      ),
      cells(move),
    );
  const heads = ["value", "plies", "gives away"].map((name, at) => el("th", { scope: "col", class: at === 2 ? "left" : undefined }, name));
  return el(
    "div",
    { class: "wide moves" },
    el(
      "table",
      {},
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "move"), heads)),
      groups.map((group) =>
        el(
          "tbody",
          {},
          el("tr", { class: `group ${group.grade}` }, el("th", { colspan: 4, scope: "rowgroup" }, `${group.name} (${group.moves.length})`)),
          group.moves.map(row),
        ),
      ),
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
    table.states === null ? ["table", "none: values by search and estimates"] : ["states", thousands(table.states)],
    table.states !== null && ["complete", table.complete ? "yes, every state that can be reached" : `no: ${limits(table)}`],
  ];
  if (!table.is_layered) facts.push(["play without end", table.repetition.replaceAll("-", " ")]);
  return el(
    "dl",
    {},
    facts.filter(Boolean).flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]),
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
  return el("div", {}, summary(table), roots, table.states !== null && button("Count", show), place);
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
      { class: "wide", tabindex: 0, role: "region", "aria-label": "counts by layer" },
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
        { class: "wide", tabindex: 0, role: "region", "aria-label": "counts by score" },
        el(
          "table",
          {},
          el("thead", {}, el("tr", {}, el("th", {}, "score"), el("th", {}, "states"), el("th", { class: "left" }, "share"))),
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
