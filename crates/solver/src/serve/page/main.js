// The page: which table and position the address names, what is drawn, and who plays.

import * as api from "./api.js";
import { board, movesAt } from "./board.js";
import { button, el, renew } from "./dom.js";
import { bestLine, moves, notations, tableList, tablePanel } from "./explore.js";
import { Game, curve, moves as played, result } from "./game.js";
import { openings } from "./openings.js";
import { PolicyPanel, chooser } from "./policies.js";
import { Setup, canWrite, images, paste } from "./setup.js";
import { isShogi, verdict, words } from "./values.js";

const main = document.getElementById("main");
const said = document.getElementById("said");
const failed = document.getElementById("failed");
const title = document.getElementById("title");

const PAUSE = 350;

let listing = null;
// All that is shown of a table; null while the list of tables is.
let shown = null;
// Grows with all that makes an answer under way stale.
let turn = 0;

function fail(refused) {
  if (!(refused instanceof api.Refused)) console.error(refused);
  failed.textContent = refused.message;
  failed.hidden = false;
}

// Runs something that may be refused; what it was begun for may have gone by when it ends.
async function attempt(work) {
  const mine = ++turn;
  failed.hidden = true;
  main.setAttribute("aria-busy", "true");
  try {
    await work(() => mine === turn);
  } catch (refused) {
    if (mine === turn) fail(refused);
  } finally {
    if (mine === turn) main.removeAttribute("aria-busy");
  }
}

// The address holds the table and the position, so that a link and the back button lead there.
function address(table, position) {
  return `#${encodeURIComponent(table.table)}/${encodeURIComponent(position)}`;
}

function named() {
  const [table, position] = location.hash.slice(1).split("/");
  try {
    return { table: decodeURIComponent(table ?? ""), position: decodeURIComponent(position ?? "") };
  } catch {
    return { table: "", position: "" };
  }
}

// What the browser keeps with an address: the game so far, so that a reload has it again.
function kept() {
  const { game, players } = shown;
  const [first, ...plies] = game.line;
  return { at: game.at, first: first.answer.position, moves: plies.map(({ move }) => move.move), players };
}

const remember = () => history.pushState(kept(), "", address(shown.table, shown.game.answer.position));
const keep = () => history.replaceState(kept(), "", address(shown.table, shown.game.answer.position));

// The game that was kept with an address, or null if it does not lead there.
async function restored(table, { at, first, moves: names }, position) {
  const game = new Game(table, await api.position(table.table, first));
  for (const name of names) {
    const move = game.answer.moves.find((one) => one.move === name);
    if (!move) return null;
    game.play(move, await api.position(table.table, move.position));
  }
  game.go(at);
  return game.answer.position === position ? game : null;
}

// Shows what the address names. A ply of the game that is shown is gone to; all else begins a new one.
function follow(state) {
  const { table: name, position } = named();
  return attempt(async (current) => {
    // The list is read anew where it is shown: tables come and go.
    if (!name) listing = null;
    listing ??= await api.tables();
    if (!current()) return;
    if (!name) return list();
    const table = listing.tables.find((one) => one.table === name);
    if (!table) throw new api.Refused({ error: `there is no table '${name}'`, hint: "choose one of the list" });
    if (shown?.table === table) {
      const { game } = shown;
      const isThere = (at) => game.line[at]?.answer.position === position;
      const at = isThere(state?.at) ? state.at : game.line.findIndex((_, at) => isThere(at));
      if (at >= 0) return stand(at);
    }
    const game = state?.moves && (await restored(table, state, position));
    const begun = game || new Game(table, await api.position(table.table, position));
    if (!current()) return;
    begin(table, begun, game ? state.players : [null, position === "" ? "perfect" : null]);
    keep();
  });
}

function list() {
  shown = null;
  title.textContent = "Tables";
  document.title = "yomikiri";
  said.textContent = "";
  renew(main, tableList(listing));
}

// Begins a game. From the start one plays against `perfect`; a position of a link is there to be explored.
// Who plays a table stays as it was.
function begin(table, game, players) {
  const before =
    shown?.table === table
      ? shown
      : {
          hints: true,
          flipped: false,
          kanji: false,
          players,
          policy: new PolicyPanel(table, (position) => open(position)),
          openings: openings(table, opening),
          facts: tablePanel(table, (position) => open(position)),
        };
  shown = {
    ...before,
    table,
    game,
    picked: null,
    marked: [],
    running: false,
    editing: null,
  };
  title.textContent = table.table;
  document.title = `${table.table} – yomikiri`;
  frame();
  arrive("", true);
  if (game.at === game.line.length - 1) reply();
}

// Opens a position in any notation, to be explored or to be played against who plays already.
function open(text, players = [null, null]) {
  return attempt(async (current) => {
    const answer = await api.position(shown.table.table, text);
    if (!current()) return;
    shown.players = players;
    begin(shown.table, new Game(shown.table, answer));
    remember();
  });
}

const opening = (names) => open("").then(() => failed.hidden && walk(names));

// Goes to a ply of the game; nobody replies to that.
function stand(at, push = false) {
  turn += 1;
  main.removeAttribute("aria-busy");
  shown.running = false;
  shown.game.go(at);
  if (push) remember();
  else keep();
  arrive("", true);
}

// Draws the position where one stands, and says what has happened.
function arrive(told, quietly = false) {
  const { game, table, players, hints } = shown;
  Object.assign(shown, { picked: null, marked: [], editing: null });
  const over = result(game, players);
  const now = over || (hints ? verdict(game.answer, table) : "");
  const mover = game.answer.kind === "terminal" ? "" : `${game.answer.mover} to move.`;
  // Beyond the table the verdict begins with who is to move.
  const text = [told, now.startsWith(mover) ? "" : mover, now && `${now}.`].filter(Boolean).join(" ");
  if (!quietly || said.textContent !== text) said.textContent = text;
  draw();
  shown.policy.show(game.answer.position);
}

// Plays a move of the position that is shown.
function play(move) {
  return attempt((current) => advance(move, current)).then(reply);
}

async function advance(move, current) {
  const { game, table, hints } = shown;
  const known = game.line[game.at + 1];
  const answer = known?.move.move === move.move ? known.answer : await api.position(table.table, move.position);
  if (!current()) return;
  const mover = game.answer.mover;
  game.play(move, answer);
  remember();
  const lost = hints && game.cost(game.at);
  const value = hints ? `: ${words(move, table)}${lost ? `, a mistake: ${lost.text}` : ""}` : "";
  arrive(`${mover} plays ${move.move}${value}.`);
}

// The policy whose turn it is, or undefined.
const toReply = () =>
  shown && !shown.game.isOver ? (shown.players[shown.game.side()] ?? undefined) : undefined;

// Lets policies move: one move, or, where two play each other, as long as the game runs.
function reply() {
  if (toReply() === undefined || shown.players.every((player) => player !== null)) return;
  step();
}

function step() {
  const policy = toReply();
  if (policy === undefined) return undefined;
  return attempt(async (current) => {
    const { game, table } = shown;
    const asked = Date.now();
    const decision = await api.decision(table.table, policy, game.answer.position);
    await new Promise((done) => setTimeout(done, Math.max(0, PAUSE - (Date.now() - asked))));
    if (!current()) return;
    const chosen = drawn(decision);
    await advance(game.answer.moves.find((move) => move.action === chosen.action) ?? chosen, current);
  }).then(() => {
    if (!shown || !failed.hidden) return;
    if (
      shown.running
        ? toReply() !== undefined
        : shown.players.some((player) => player === null) && toReply() !== undefined
    )
      step();
    else if (shown.running) run(false);
  });
}

// A move drawn with the policy's probabilities.
function drawn({ moves: all }) {
  let rest = Math.random() * all.reduce((sum, move) => sum + move.probability, 0);
  return all.find((move) => (rest -= move.probability) < 0) ?? all[0];
}

function run(on) {
  shown.running = on;
  if (!on) turn += 1;
  main.removeAttribute("aria-busy");
  draw();
  if (on) step();
}

// Plays some moves one after another, as best play has them.
function walk(names) {
  return attempt(async (current) => {
    for (const name of names) {
      const move = shown.game.answer.moves.find((one) => one.move === name);
      if (!move) return;
      await advance(move, current);
      if (!current()) return;
    }
  });
}

// A click on a square: picks a piece up, puts it down, or plays.
function click(at) {
  if (shown.editing) {
    shown.editing.put(at);
    return draw();
  }
  const view = { ...shown, answer: shown.game.answer };
  const legal = movesAt(view, at);
  if (shown.picked === at || !legal.length) return pick(null);
  if (shown.picked === null && legal[0].from !== null) return pick(at);
  return legal.length > 1 ? choose(legal) : play(legal[0]);
}

function pick(what) {
  shown.picked = shown.picked === what ? null : what;
  draw();
}

// Two moves between the same squares: the piece promotes, or does not.
function choose(legal) {
  const asked = el(
    "dialog",
    { "aria-label": "Which move", onclose: () => asked.remove() },
    el("p", {}, "Which move?"),
    el(
      "div",
      { class: "row" },
      legal.map((move) =>
        button(`${move.move}${move.move.endsWith("+") ? " promotes" : ""}`, () => {
          asked.close();
          play(move);
        }),
      ),
      button("Cancel", () => asked.close()),
    ),
  );
  document.body.append(asked);
  asked.showModal();
}

// The parts of the page that are drawn anew as the game goes on.
const parts = {};

function frame() {
  for (const name of ["players", "board", "controls", "moves", "line", "game", "place"])
    parts[name] = el("div", { id: name });
  renew(
    main,
    el(
      "div",
      { class: "columns" },
      el("section", { "aria-label": "Board" }, parts.players, parts.board, parts.controls),
      el(
        "section",
        { "aria-label": "Moves and game" },
        el("h2", {}, "Moves"),
        parts.moves,
        parts.line,
        el("h2", {}, "Game"),
        parts.game,
        el("details", { open: true }, el("summary", {}, "Position"), parts.place),
        el("details", {}, el("summary", {}, "A policy beside the truth"), shown.policy.element),
        shown.openings,
        el("details", {}, el("summary", {}, "The table"), shown.facts),
      ),
    ),
  );
}

function draw() {
  const { table, game, hints, editing } = shown;
  const answer = editing ? editing.drawn(game.answer) : game.answer;
  const move = game.line[game.at].move;
  const last = editing || !move ? [] : [move.from, move.to].filter((at) => at !== null);
  renew(
    parts.players,
    el(
      "div",
      { class: "row" },
      table.sides.map((side, number) => player(side, number)),
    ),
  );
  renew(parts.board, board({ ...shown, answer, last, onsquare: click, onhand: pick }));
  renew(parts.controls, controls());
  renew(
    parts.moves,
    editing
      ? el("p", { class: "note" }, "The position is being set up.")
      : moves({ table, answer, hints, onmove: play, onmark: point }),
  );
  renew(parts.line, !editing && hints && bestLine({ answer, online: walk }));
  renew(
    parts.game,
    played(game, (at) => stand(at, true), hints),
    hints && curve(game, (at) => stand(at, true)),
  );
  renew(parts.place, ...place(answer));
}

function player(side, number) {
  return chooser(side, shown.table, "you", shown.players[number] ?? "", (name) => {
    shown.players[number] = name || null;
    shown.running = false;
    turn += 1;
    keep();
    draw();
    reply();
  });
}

function place(answer) {
  const { table, editing } = shown;
  if (editing) {
    return [
      editing.panel(
        draw,
        (notation) => open(notation),
        () => {
          shown.editing = null;
          draw();
        },
      ),
    ];
  }
  const setUp = () => {
    shown.editing = new Setup(table, answer);
    shown.picked = null;
    draw();
  };
  return [
    paste(answer.position, open),
    notations({ answer }),
    canWrite(answer) &&
      el(
        "div",
        { class: "row" },
        images(table, answer).map(([name, image]) => button(name, () => open(image))),
        button("Set up on the board", setUp),
      ),
  ];
}

const isPerson = (side) => shown.players[side] === null;

function controls() {
  const { game, table, players } = shown;
  const both = players.every((one) => one !== null);
  const waits = toReply() !== undefined;
  const toggle = (text, field) =>
    button(
      text,
      () => {
        shown[field] = !shown[field];
        arriveQuietly();
      },
      { "aria-pressed": String(shown[field]) },
    );
  return el(
    "div",
    { class: "row" },
    button("Undo", () => stand(game.turn(-1, isPerson), true), { disabled: game.at === 0 }),
    button("Redo", () => stand(game.turn(1, isPerson), true), { disabled: game.at === game.line.length - 1 }),
    waits && button("Step", step),
    both && (shown.running ? button("Stop", () => run(false)) : waits && button("Run", () => run(true))),
    button("New game", restart),
    toggle("Flip", "flipped"),
    toggle("Hints", "hints"),
    isShogi(table) && toggle("Kanji", "kanji"),
  );
}

function arriveQuietly() {
  const { editing } = shown;
  arrive("", true);
  if (editing) {
    shown.editing = editing;
    draw();
  }
}

const restart = () => open("", shown.players);

// Shows on the board where a move of the list leads.
function point(move) {
  const squares = move ? [move.from, move.to].filter((at) => at !== null) : [];
  shown.marked = squares;
  const cells = parts.board.querySelectorAll(".cell");
  cells.forEach((cell) =>
    cell.classList.toggle(
      "marked",
      squares.some((at) => cell.dataset.key === `square ${at}`),
    ),
  );
}

// Left and right go through the game, up and down among the moves, Home and End to its ends.
function key(event) {
  if (!shown || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.target.closest("input, select, dialog, textarea")) return;
  const { game } = shown;
  const to = { ArrowLeft: game.at - 1, ArrowRight: game.at + 1, Home: 0, End: game.line.length - 1 }[event.key];
  if (to !== undefined) {
    event.preventDefault();
    if (to !== game.at && game.line[to]) stand(to, true);
  } else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
    event.preventDefault();
    const all = [...parts.moves.querySelectorAll("button.move")];
    const at = all.indexOf(document.activeElement);
    const next = at < 0 ? 0 : at + (event.key === "ArrowDown" ? 1 : -1);
    all[Math.max(0, Math.min(next, all.length - 1))]?.focus();
  } else if (event.key === "Escape" && shown.picked !== null) {
    pick(null);
  }
}

addEventListener("popstate", (event) => follow(event.state));
addEventListener("keydown", key);
follow(history.state);
