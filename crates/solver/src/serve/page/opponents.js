// Players of a side: a person, or a policy under a name that people understand.

import { select } from "./dom.js";
import { grade } from "./values.js";

// Levels by the plies that they read ahead.
const LEVELS = ["alphabeta:1", "alphabeta:2", "alphabeta:3", "alphabeta:4", "alphabeta:6"];
const STRONGEST = LEVELS.at(-1);
const NAMES = new Map([
  ["random", "Random"],
  ["greedy", "Greedy"],
  ["tactician", "Tactician"],
  ...LEVELS.map((level, at) => [level, `Level ${at + 1}`]),
  ["perfect", "Perfect"],
]);
// Policies that do not play every game.
const SOME = ["greedy", "tactician"];
const ANOTHER = "another …";

// The name of a policy for people; a network or program is the user's model.
export function nameOf(policy) {
  if (NAMES.has(policy)) return NAMES.get(policy);
  const own = /^(onnx|exec|usi|uci|gtp|learned|predictions|weights):(.*)$/.exec(policy);
  return own ? `Your model: ${own[2].replace(/^.*\//, "")}` : policy;
}

// All policies of a table to choose from: the named ones first, then the table's others.
function choices(table, chosen) {
  const measured = (name) => !SOME.includes(name) || table.policies.includes(name);
  const known = [...NAMES.keys()].filter(measured);
  const others = [...table.policies, chosen].filter((name) => name && !known.includes(name));
  const own = [...new Set(others)].sort((a, b) => nameOf(b).startsWith("Your") - nameOf(a).startsWith("Your"));
  return [...known, ...own];
}

// A choice among nobody and the policies; any other is added by the name that `report --policy` takes.
export function chooser(label, table, nobody, chosen, act) {
  const names = choices(table, chosen).map((name) => [name, nameOf(name)]);
  return select(label, [["", nobody], ...names, [ANOTHER, ANOTHER]], chosen, (name) => {
    if (name !== ANOTHER) return act(name);
    const named = prompt("A policy, as 'solver report --policy' takes it: mcts:200, alphabeta:6")?.trim();
    if (named && !table.policies.includes(named)) table.policies.push(named);
    return act(named || chosen);
  });
}

// The best moves of a position whose value is proven.
export const bestMoves = (answer) =>
  answer.result === null
    ? []
    : answer.moves.filter((move) => move.best && grade(move) === answer.result);

// The policy that moves for a player. `perfect` needs a proven best move; elsewhere the strongest level moves.
export const standIn = (policy, answer) =>
  policy === "perfect" && !bestMoves(answer).length ? STRONGEST : policy;

const percent = (part) => `${(100 * part).toFixed(part > 0 && part < 0.01 ? 2 : 0)} %`;

// Describes the opinion of an opponent about the position in which it chose a move.
export function thought(decision, asked, chosen) {
  const { policy, expected_outcome: outcome, expected_score: score, moves } = decision;
  const alone = policy !== asked && `${nameOf(asked)} does not know this position, ${nameOf(policy)} moved instead`;
  const sure = moves.filter((move) => move.probability > 0);
  const most = Math.max(...sure.map((move) => move.probability));
  const likeliest = sure.filter((move) => move.probability === most);
  const likely = likeliest.find((move) => move.action === chosen.action) ?? likeliest[0];
  const expects =
    typeof score === "number" && policy !== "perfect"
      ? `expected ${score > 0 ? "to win by" : score < 0 ? "to lose by" : "a draw,"} ${Math.abs(score).toFixed(1)}`
      : typeof outcome === "number" && policy !== "perfect" && `expected ${outcome > 0 ? "+" : ""}${outcome.toFixed(2)} (1 wins, \u22121 loses)`;
  const share = likeliest.length > 1 ? `one of ${likeliest.length} that it liked best` : sure.length > 1 && percent(likely.probability);
  const choice = likely && [`chose ${chosen.move}`, chosen.action === likely.action ? share : `liked ${likely.move} best`].filter(Boolean).join(", ");
  return [alone, expects, choice].filter(Boolean).join("; ");
}
