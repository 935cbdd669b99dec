// A policy beside the truth: what it would play here, and where it gives away the most.

import { decision, mistakes } from "./api.js";
import { button, el, renew, select, thousands } from "./dom.js";
import { badge, grade, signed, words } from "./values.js";

const percent = (part) => `${(100 * part).toFixed(part > 0 && part < 0.01 ? 2 : 0)} %`;

const ANOTHER = "another …";

// A choice among a table's policies and nobody: any other is asked for by name, and then among them.
export function chooser(label, table, nobody, chosen, act) {
  const names = [...table.policies, ANOTHER].map((name) => [name, name]);
  return select(label, [["", nobody], ...names], chosen, (name) => {
    if (name !== ANOTHER) return act(name);
    const named = prompt("A policy, as 'solver report --policy' takes it: mcts:200, alphabeta:6")?.trim();
    if (named && !table.policies.includes(named)) table.policies.push(named);
    return act(named || chosen);
  });
}

// The panel of a table. It asks only while a policy is chosen, and what comes too late is dropped.
export class PolicyPanel {
  constructor(table, onposition) {
    Object.assign(this, { table, onposition, policy: "", position: null, asked: 0 });
    this.choice = el("div", {});
    this.ask();
    this.here = el("div", { "aria-live": "polite" });
    this.worst = el("div", {});
    this.element = el("div", {}, this.choice, this.here, this.worst);
  }

  ask() {
    renew(
      this.choice,
      chooser("Policy", this.table, "none", this.policy, (name) => this.choose(name)),
    );
  }

  choose(name) {
    this.policy = name;
    this.ask();
    this.worst.replaceChildren(...(name ? [button("Find its worst mistakes", () => this.find())] : []));
    this.show(this.position);
  }

  // Shows what the policy does in a position.
  async show(position) {
    this.position = position;
    const asked = ++this.asked;
    if (!this.policy || !position) return this.here.replaceChildren();
    let made;
    try {
      made = decided(await decision(this.table.table, this.policy, position), this.table);
    } catch (refused) {
      made = el("p", { class: "note" }, refused.message);
    }
    if (asked === this.asked) this.here.replaceChildren(made);
  }

  async find() {
    const policy = this.policy;
    renew(this.worst, el("p", { class: "note" }, "Asking it in every position …"));
    let made;
    try {
      made = listed(await mistakes(this.table.table, policy), this.table, this.onposition);
    } catch (refused) {
      made = el("p", { class: "note" }, refused.message);
    }
    if (policy === this.policy) this.worst.replaceChildren(made);
  }
}

function decided(decision, table) {
  if (!decision.moves.length) return el("p", { class: "note" }, "The game is over.");
  const expected = [
    decision.expected_outcome !== null && `outcome ${decision.expected_outcome.toFixed(2)}`,
    decision.expected_score !== null && `score ${decision.expected_score.toFixed(1)}`,
  ].filter(Boolean);
  const truth = decision.outcome === null ? "not proven" : signed(decision.outcome);
  const right = decision.moves.filter((move) => grade(move) !== "open" && move.best);
  const rightly = right.reduce((sum, move) => sum + move.probability, 0);
  const scores = decision.moves.some((move) => move.policy_score !== null);
  const row = (move) => {
    const bar = el("td", { class: "bar" }, el("i", {}), el("span", {}, percent(move.probability)));
    bar.firstChild.style.width = `${100 * move.probability}%`;
    return el(
      "tr",
      { class: move.move === decision.move ? "chosen" : undefined },
      el("th", { scope: "row" }, move.move),
      el("td", {}, el("span", { class: `chip ${grade(move)}`, title: words(move, table) }, badge(move))),
      bar,
      scores && el("td", {}, move.policy_score === null ? "" : move.policy_score.toFixed(2)),
    );
  };
  return el(
    "div",
    {},
    el(
      "p",
      {},
      `Its likeliest move is ${decision.move}. `,
      right.length ? `A best move has ${percent(rightly)} of its probability. ` : "",
      expected.length ? `It expects ${expected.join(", ")}; the exact outcome is ${truth}.` : "",
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
            ["move", "exact", "probability", ...(scores ? ["its score"] : [])].map((name) =>
              el("th", {}, name),
            ),
          ),
        ),
        el("tbody", {}, decision.moves.map(row)),
      ),
    ),
  );
}

function listed({ judged, mistakes }, table, onposition) {
  if (!mistakes.length) return el("p", {}, `None in ${thousands(judged)} positions.`);
  const lost = (one) =>
    [
      one.outcome_lost > 0 && `${one.outcome_lost.toFixed(2)} of the outcome`,
      one.score_lost > 0 && `${one.score_lost.toFixed(1)} ${table.score_unit}s`,
      one.plies_lost > 0 && `${one.plies_lost.toFixed(1)} plies`,
    ]
      .filter(Boolean)
      .join(", ");
  return el(
    "div",
    {},
    el("p", {}, `The worst of ${thousands(judged)} positions:`),
    el(
      "ol",
      { class: "mistakes" },
      mistakes.map((one, at) => {
        const best = one.moves
          .filter((move) => move.best)
          .map((move) => move.move)
          .join(" ");
        return el(
          "li",
          {},
          button(one.position, () => onposition(one.position), { class: "word", "data-key": `mistake ${at}` }),
          el(
            "span",
            { class: "note" },
            ` ${one.mover}: ${one.moves[0].move} rather than ${best}, gives away ${lost(one)}`,
          ),
        );
      }),
    ),
  );
}
