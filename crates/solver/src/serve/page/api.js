// The server's answers. `docs/openapi.json` describes them.

// Why the server does not answer, with what to do.
export class Refused extends Error {
  constructor({ error, hint }) {
    super(hint ? `${error}; ${hint}` : error);
  }
}

async function ask(path, parameters = {}, options = {}) {
  const query = new URLSearchParams(parameters).toString();
  let response;
  try {
    response = await fetch(`/api/v1/${path}${query && "?"}${query}`, options);
  } catch {
    throw new Refused({ error: "the server does not answer", hint: "start 'solver serve' again" });
  }
  const body = await response.json();
  if (!response.ok) throw new Refused(body);
  return body;
}

export const tables = () => ask("tables");
// A table, or a game without one, as `tables` lists it.
export const about = (table) => ask(`${encodeURIComponent(table)}/about`);
export const counts = (table) => ask(`${encodeURIComponent(table)}/counts`);
export const decision = (table, policy, position) =>
  ask(`${encodeURIComponent(table)}/policy`, { policy, position });
// A game in a form of other programs, with `position`, `moves`, `form` and the players `first` and `second`.
export const writtenGame = (table, asked) => ask(`${encodeURIComponent(table)}/game`, asked);
// What each move of games cost, as `solver review` judges it. `text` is any form of games; with `position` moves from there.
// Values that no table proves are searched for `seconds`.
export const review = (table, text, { signal, ...asked } = {}) =>
  ask(`${encodeURIComponent(table)}/review`, asked, { method: "POST", body: text, signal });
export const mistakes = (table, policy) => ask(`${encodeURIComponent(table)}/mistakes`, { policy, count: 20 });
export const differences = (table, policy, other) =>
  ask(`${encodeURIComponent(table)}/differences`, { policy, other, count: 20 });

// A position and its moves; one outside the table, whose kind is `outside`, has what the rules determine.
// `moves` are played from there. With `seconds` it is searched for that time, until `signal` cancels that.
export async function position(table, text, { moves = [], seconds, signal } = {}) {
  const asked = { anywhere: true, estimate: true, ...(text ? { position: text } : {}), ...(seconds ? { seconds } : {}) };
  if (moves.length) asked.moves = moves.join(" ");
  const answer = await ask(encodeURIComponent(table), asked, { signal });
  for (const move of answer.moves) move.dropped = dropped(move);
  // Proven moves come first; behind them those that are expected to be better.
  answer.moves.sort((one, other) => (one.result === null && other.result === null ? rank(other.estimate) - rank(one.estimate) : 0));
  return answer;
}

// A number by which estimates are ordered; a forced win is above every advantage, and the sooner the better.
function rank(estimate) {
  if (!estimate) return -1e9;
  return estimate.outcome ? estimate.outcome * (1e6 - estimate.distance) : estimate.advantage;
}

// The letter of the piece that a move puts on the board, as in P*3c.
function dropped(move) {
  const star = move.move.indexOf("*");
  return move.from === null && star > 0 ? move.move.slice(0, star).toUpperCase() : null;
}
