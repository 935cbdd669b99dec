// Compare mode: one or two policies beside the exact values, on the board and in a table.

import { chip } from "./card.js";
import { decision, differences, mistakes } from "./api.js";
import { button, el, renew, thousands } from "./dom.js";
import { chooser, nameOf } from "./opponents.js";
import { grade, plural, signed } from "./values.js";

const percent = (part) => `${(100 * part).toFixed(part > 0 && part < 0.01 ? 2 : 0)} %`;
const LETTERS = ["A", "B"];
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 });

// The panel of a table. It asks only while a policy is chosen and drops answers that come too late.
export class Compare {
  constructor(table, onposition, onmoves) {
    Object.assign(this, { table, onposition, onmoves, policies: ["", ""], position: null, asked: 0 });
    this.choice = el("div", { class: "row" });
    this.here = el("div", { "aria-live": "polite" });
    this.worst = el("div", {});
    this.element = el("div", {}, this.choice, this.here, this.worst);
    this.ask();
  }

  ask() {
    renew(
      this.choice,
      LETTERS.map((letter, at) =>
        chooser(`Policy ${letter}`, this.table, "none", this.policies[at], (name) => this.choose(at, name)),
      ),
    );
  }

  get chosen() {
    return this.policies.map((name, at) => ({ name, letter: LETTERS[at] })).filter(({ name }) => name);
  }

  choose(at, name) {
    this.policies[at] = name;
    this.ask();
    const isPair = this.chosen.length === 2 && this.policies[0] !== this.policies[1];
    const finds = [
      ...this.chosen.map((one) => button(`Worst mistakes of ${one.letter}`, () => this.find(() => this.mistakes(one)))),
      isPair && button("Where they differ, worst first", () => this.find(() => this.differences())),
    ];
    this.found = el("div", {});
    renew(this.worst, this.chosen.length && el("div", { class: "row" }, finds), this.found);
    this.show(this.position);
  }

  // Shows what the policies do in a position.
  async show(position) {
    this.position = position;
    const asked = ++this.asked;
    if (!this.chosen.length || !position) {
      this.here.replaceChildren();
      return this.onmoves([]);
    }
    const all = await Promise.all(
      this.chosen.map(async (one) => {
        try {
          return { ...one, decision: await decision(this.table.table, one.name, position) };
        } catch (refused) {
          return { ...one, error: refused.message };
        }
      }),
    );
    if (asked !== this.asked) return;
    renew(this.here, decided(all, this.table));
    this.onmoves(
      all.flatMap(({ letter, name, decision: made }) => {
        const all = made ? likeliest(made) : [];
        return all.map((move) => ({ letter, name: `${letter}, ${nameOf(name)}`, move }));
      }),
    );
  }

  async find(search) {
    const place = this.found;
    renew(place, el("p", { class: "note" }, "Asking in every position …"));
    try {
      renew(place, await search());
    } catch (refused) {
      renew(place, el("p", { class: "note" }, refused.message));
    }
  }

  async mistakes({ name }) {
    const { judged, mistakes: all } = await mistakes(this.table.table, name);
    const first = `The worst of ${thousands(judged)} positions:`;
    return this.listed(first, all.map((one) => ({ ...one, by: name })), judged);
  }

  async differences() {
    const [one, other] = this.policies;
    const found = await differences(this.table.table, one, other);
    const first = `They choose differently in ${thousands(found.differing)} of ${thousands(found.judged)} positions. Where one loses the most more than the other:`;
    return this.listed(first, found.differences, found.judged);
  }

  listed(first, all, judged) {
    if (!all.length) return el("p", {}, `No mistake in ${thousands(judged)} positions.`);
    return el(
      "div",
      {},
      el("p", {}, first),
      el(
        "ol",
        { class: "mistakes" },
        all.map((one, at) =>
          el(
            "li",
            {},
            button(one.position, () => this.onposition(one.position), { class: "word", "data-key": `mistake ${at}` }),
            el("span", { class: "note" }, ` ${sentence(one, this.table)}`),
          ),
        ),
      ),
    );
  }
}

// The likeliest moves: several if the policy does not prefer one of them.
function likeliest({ moves }) {
  const most = Math.max(...moves.map((move) => move.probability));
  return moves.filter((move) => move.probability > most - 1e-9);
}

// Describes the mistake of a policy in a position, in a sentence.
function sentence(one, table) {
  const best = one.moves.filter((move) => move.best).map((move) => move.move);
  const lost = [
    one.result_lost > 0 && outcome(one.result_lost),
    one.score_lost > 0 && `gives away ${one.score_lost.toFixed(1)} ${table.score_unit}s`,
    one.plies_lost > 0 && `is ${one.plies_lost.toFixed(1)} plies slower`,
  ].filter(Boolean);
  const other = one.other_move && `; the other plays ${one.other_move}`;
  return `${one.mover}: ${nameOf(one.by)} plays ${one.moves[0].move} instead of ${best.join(" or ")}, ${lost.join(", ")}${other ?? ""}`;
}

function outcome(lost) {
  const name = lost > 1.95 ? "turns a win into a loss" : lost > 0.95 && lost < 1.05 ? "loses half a point" : null;
  return name ?? `loses ${(lost / 2).toFixed(2)} points on average`;
}

function likes(moves) {
  const names = moves.map(({ move }) => move);
  if (names.length === 1) return `prefers ${names[0]}`;
  const some = names.length > 6 ? `${names.length} moves` : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
  return `likes ${some} equally`;
}

function decided(all, table) {
  const known = all.filter((one) => one.decision);
  const refused = all.filter((one) => one.error).map(({ letter, error }) => el("p", { class: "note" }, `${letter}: ${error}`));
  if (!known.length) return refused;
  const truth = known[0].decision;
  if (!truth.moves.length) return el("p", { class: "note" }, "The game is over.");
  const cell = ({ decision: made, letter }, { move }) => {
    const found = made.moves.find((one) => one.move === move);
    const bar = el("td", { class: `bar ${letter}` }, el("i", {}), el("span", {}, percent(found.probability)));
    bar.firstChild.style.width = `${100 * found.probability}%`;
    return [bar, found.policy_score === null ? null : el("td", {}, compact.format(found.policy_score))];
  };
  const scores = ({ decision: made }) => made.moves.some((one) => one.policy_score !== null);
  const row = (move) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, move.move),
      el("td", {}, chip(move, table)),
      known.map((one) => cell(one, move)),
    );
  const summary = ({ letter, name, decision: made }) => {
    const right = made.moves.filter((move) => grade(move) !== "open" && move.best);
    const rightly = right.reduce((sum, move) => sum + move.probability, 0);
    const expected = [
      made.expected_outcome !== null && `outcome ${signed(Number(made.expected_outcome.toFixed(2)))}`,
      made.expected_score !== null && plural(Number(made.expected_score.toFixed(1)), table.score_unit ?? "point"),
    ].filter(Boolean);
    return el(
      "p",
      {},
      el("span", { class: `letter ${letter}` }, letter),
      ` ${nameOf(name)} ${likes(likeliest(made))}. `,
      right.length ? `A best move has ${percent(rightly)} of its probability. ` : "",
      expected.length ? `It expects ${expected.join(", ")}; the exact outcome is ${made.outcome === null ? "not proven" : signed(made.outcome)}.` : "",
    );
  };
  const heads = ["move", "exact", ...known.flatMap((one) => [`${one.letter} plays`, ...(scores(one) ? [`${one.letter} score`] : [])])];
  return [
    ...known.map(summary),
    ...refused,
    el(
      "div",
      { class: "wide", tabindex: 0, role: "region", "aria-label": "policies and exact values" },
      el(
        "table",
        {},
        el("thead", {}, el("tr", {}, heads.map((name) => el("th", { scope: "col" }, name)))),
        el("tbody", {}, truth.moves.map(row)),
      ),
    ),
  ];
}
