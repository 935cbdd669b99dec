// The review of a game: what is judged, what each side lost, and the costliest moves.

import { button, el, select } from "./dom.js";
import { plural } from "./values.js";

// Costliest moves that are listed.
const WORST = 6;

// The judged moves of a line, with their losses; `isMistake` if they lose some of the result or the score.
function judgedOf({ line, table }) {
  return line.flatMap(({ judged }, at) => {
    if (typeof judged?.result_lost !== "number") return [];
    const [result, score] = [judged.result_lost, judged.score_lost ?? 0];
    return [{ at, judged, result, score, side: table.sides.indexOf(judged.side), isMistake: result > 0 || score > 0 }];
  });
}

const sum = (all, of) => all.reduce((total, one) => total + of(one), 0);

function sideRow(name, all, unit) {
  const mistakes = all.filter((one) => one.isMistake).length;
  const turned = all.filter((one) => one.result > 0).length;
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, name),
    [all.length, mistakes, turned, ...(unit ? [sum(all, (one) => one.score)] : [])].map((count) => el("td", {}, String(count))),
  );
}

// Buttons and figures below the list of the game. Until it is judged there is a button for that.
export function review({ game, file, isShown, isRunning, judge, further, cancel, choose, go }) {
  const { table, line } = game;
  const count = line.length - 1;
  const games = file?.games ?? [];
  const chooser =
    games.length > 1 &&
    select(
      "Game",
      games.map(({ place, players, moves }, at) => {
        const names = players.some(Boolean) ? `: ${players.map((one) => one ?? "?").join(" – ")}` : "";
        return [String(at), `${place}${names}, ${plural(moves.length, "move")}`];
      }),
      String(file.index),
      (index) => choose(Number(index)),
    );
  if (!isShown) return [chooser, el("div", { class: "row" }, button("Review the game", judge))];
  const all = judgedOf(game);
  const unit = table.has_scores ? (table.score_unit ?? "point") : null;
  const worst = all
    .filter((one) => one.isMistake)
    .sort((one, other) => other.result - one.result || other.score - one.score || one.at - other.at)
    .slice(0, WORST);
  const heads = ["", "judged", "mistakes", "results turned", ...(unit ? [`${unit}s lost`] : [])];
  return el(
    "section",
    { class: "review", "aria-label": "Review" },
    el("h2", {}, "Review"),
    chooser,
    el(
      "p",
      { class: "note" },
      `${all.length} of ${plural(count, "move")} are judged: those of which the exact value is known${game.values ? ` (${game.values})` : ""}.`,
      isRunning && [" Searching … ", button("Cancel", cancel, { class: "word" })],
    ),
    el(
      "div",
      { class: "wide" },
      el(
        "table",
        {},
        el("thead", {}, el("tr", {}, heads.map((head) => (head ? el("th", { scope: "col" }, head) : el("td", {}))))),
        el("tbody", {}, table.sides.map((name, side) => sideRow(name, all.filter((one) => one.side === side), unit))),
      ),
    ),
    all.length > 0 && !worst.length && el("p", {}, "No judged move was a mistake."),
    worst.length > 0 && el("p", {}, "Costliest mistakes:"),
    worst.length > 0 &&
      el(
        "ol",
        { class: "mistakes" },
        worst.map(({ at, judged }) => {
          const lost = game.cost(at);
          return el(
            "li",
            {},
            button(`${at}. ${judged.move}`, () => go(at), { class: "word", "data-key": `worst ${at}` }),
            ` by ${judged.side}: `,
            el("span", { class: "lost", title: lost?.words }, lost?.text),
            judged.best.length > 0 && `; better ${judged.best.slice(0, 3).join(", ")}`,
          );
        }),
      ),
    !isRunning && all.length < count && el("div", { class: "row" }, button("Search further back (60 s)", further)),
  );
}
