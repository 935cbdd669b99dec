// The page: the table and the position of the address, what is drawn, and who plays.

import * as api from "./api.js";
import { board, isOf, movesAt } from "./board.js";
import { card } from "./card.js";
import { Compare } from "./compare.js";
import { HOME, button, el, renew, select } from "./dom.js";
import { bestLine, moves, notations, tablePanel } from "./explore.js";
import { Game, curve, moves as played, result, texts } from "./game.js";
import { openings } from "./openings.js";
import { bestMoves, chooser, nameOf, standIn, thought } from "./opponents.js";
import { review } from "./review.js";
import { Setup, canWrite, images, paste } from "./setup.js";
import { start } from "./start.js";
import { isShogi, kindOf, provide } from "./pieces.js";
import { grade, isSearched, verdict, words } from "./values.js";

const main = document.getElementById("main");
const said = document.getElementById("said");
const failed = document.getElementById("failed");
const title = document.getElementById("title");

const PAUSE = 350;

let listing = null;
// State of the open table; null on the start page.
let shown = null;
// Number of the latest action; answers to earlier ones are dropped.
let turn = 0;
// The search under way outside the table.
let search = null;

// Seconds of each search outside the table, one after another until all is proven.
const SEARCHES = [2, 10, 60];

function fail(refused) {
  if (!(refused instanceof api.Refused)) console.error(refused);
  failed.textContent = refused.message;
  failed.hidden = false;
}

// Runs something that may be refused. A later action makes its end stale.
async function attempt(work) {
  const mine = ++turn;
  cancelSearch();
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

// State kept with an address: the game with its variations, so that a reload restores it.
function kept() {
  const { id, game, players, hints, isReviewed } = shown;
  return { id, first: game.root.answer.position, path: game.path, lines: game.lines, players, hints, isReviewed };
}

const remember = () => history.pushState(kept(), "", address(shown.table, shown.game.answer.position));
const keep = () => history.replaceState(kept(), "", address(shown.table, shown.game.answer.position));

// The position after moves of a game, with the ends that its history brings.
const ask = ({ table, root }, moves, options = {}) =>
  api.position(table.table, root.answer.position, { moves, ...options });

// Asks for what is not known yet of a position of the game, and of the one before it, which says what its move did.
async function fetched(game, node) {
  for (const one of [node.parent, node]) if (one && !one.answer) one.answer = await ask(game, game.pathTo(one));
}

// The game that was kept with an address, or null if it does not lead there.
async function restored(table, { first, path, lines }, position) {
  const game = new Game(table, await api.position(table.table, first));
  if (lines[0].length) {
    const text = lines.map((line) => line.join(" ")).join("\n");
    const { games } = await api.review(table.table, text, { position: first, form: "lines" });
    const ends = games.map((one) => game.add(one));
    game.stand(ends[0]);
  }
  const node = game.find(path);
  if (node) await fetched(game, node);
  if (node?.answer.position !== position) return null;
  game.stand(node);
  return game;
}

// Shows the position of the address. A position of the open game is gone to; any other starts a new game. Another game may have
// the same position, so an entry of the history names its game.
function follow(state) {
  const { table: name, position } = named();
  return attempt(async (current) => {
    // The list is read again whenever it is shown: tables come and go.
    if (!name) listing = null;
    listing ??= await api.tables();
    provide(listing.tables);
    if (!current()) return;
    if (!name) return list();
    const table = await tableOf(name);
    if (!current()) return;
    if (!table) throw new api.Refused({ error: `unknown table '${name}'`, hint: "choose one of the list" });
    if (shown?.table === table) {
      const { game } = shown;
      const isThere = (one) => one?.answer?.position === position;
      const found = state?.id === shown.id ? game.find(state.path) : !state && game.line.find(isThere);
      if (isThere(found)) return standAt(found);
    }
    const game = state?.lines && (await restored(table, state, position));
    const begun = game || new Game(table, await api.position(table.table, position));
    if (!current()) return;
    const players = position === "" ? seats(table) : [null, null];
    begin(table, begun, game ? state.players : players, game ? state : {});
    keep();
    if (shown.isReviewed) judge();
  }).then(() => {
    // A link that leads nowhere shows why, and the games.
    if (!failed.hidden && !main.childElementCount && listing) list();
  });
}

// The table of a name, or the game without one, which is asked for once.
async function tableOf(name) {
  const known = listing.tables.find((one) => one.table === name);
  if (known || !listing.games.some(({ game }) => game === name)) return known;
  const table = await api.about(name);
  listing.tables.push(table);
  provide(listing.tables);
  return table;
}

function list() {
  shown?.reviewing?.abort();
  shown = null;
  title.textContent = "Choose a game";
  document.title = "yomikiri";
  document.body.className = "";
  said.textContent = "";
  renew(main, start(listing, describe));
}

// Asks about a game without a table, one after another: the list is there before.
let described = Promise.resolve();
function describe(game, act) {
  described = described.then(async () => {
    if (shown) return;
    try {
      const table = await tableOf(game);
      if (table) act(table);
    } catch {
      // The card is as good without a picture.
    }
  });
}

// Settings that the browser keeps.
function setting(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(`yomikiri ${name}`)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

// Opponent of who begins to play, whom a beginner can beat.
const OPPONENT = "alphabeta:2";

// A person plays the side that can win, as far as that is known, and else the first.
function seats({ roots: [root], sides, mover }) {
  const first = Math.max(0, sides.indexOf(mover));
  const winner = root?.outcome < 0 ? 1 - first : first;
  return sides.map((_, side) => (side === winner ? null : OPPONENT));
}

// Name of the setting of hints: who plays against a policy has one apart from who explores.
const hintsOf = (players) => (players.some((one) => one === null) && players.some((one) => one !== null) ? "hints in play" : "hints");

// Begins a game. The position of a link is for exploring. Settings of the same table stay.
function begin(table, game, players, { id = Math.random(), isReviewed = false, hints, file = null } = {}) {
  shown?.reviewing?.abort();
  const before =
    shown?.table === table
      ? shown
      : {
          hints: setting(hintsOf(players), hintsOf(players) === "hints"),
          arrows: setting("arrows", false),
          kanji: setting("kanji", table.pieces.length > 4),
          flipped: isShogi(table) && players[0] !== null && players[1] === null,
          compare: new Compare(table, (position) => open(position), compared),
          openings: openings(table, opening),
          facts: tablePanel(table, (position) => open(position)),
        };
  shown = {
    ...before,
    id,
    players,
    hints: hints ?? before.hints,
    table,
    game,
    file,
    isReviewed,
    reviewing: null,
    picked: null,
    marked: [],
    compared: [],
    thoughts: [null, null],
    cursor: null,
    running: false,
    editing: null,
  };
  title.textContent = table.title;
  document.title = `${table.title} – yomikiri`;
  document.body.className = `playing ${kindOf(table)}`;
  const isFocused = document.activeElement !== document.body;
  frame();
  arrive("", true);
  if (isFocused && document.activeElement === document.body) document.querySelector(HOME)?.focus({ preventScroll: true });
  if (game.at === game.line.length - 1) reply();
}

function compared(all) {
  if (!shown || (!all.length && !shown.compared.length)) return;
  shown.compared = all.map((one) => ({ ...one, move: shown.game.answer.moves.find(({ move }) => move === one.move.move) ?? one.move }));
  drawBoard();
}

// Opens what was pasted: a file of games with their review, or else a position.
function openText(text) {
  const { table } = shown;
  return attempt(async (current) => {
    let file = null;
    try {
      file = await api.review(table.table, text);
    } catch (refused) {
      // Some positions are no line of a file; of a game the reason why it is not read says more.
      if (typeof text !== "string" || text.includes("\n")) throw refused;
    }
    if (!current()) return;
    if (file?.moves) return openGame(file, 0, current);
    const answer = await api.position(table.table, file ? file.games[0].start : text);
    if (!current()) return;
    begin(table, new Game(table, answer), [null, null]);
    remember();
  });
}

// Opens a game of a file.
async function openGame(file, index, current) {
  const { table } = shown;
  const chosen = file.games[index];
  const game = new Game(table, await api.position(table.table, chosen.start));
  game.stand(game.add(chosen));
  await fetched(game, game.node);
  if (!current()) return;
  begin(table, game, [null, null], { isReviewed: true, hints: true, file: { ...file, index } });
  remember();
  judge();
}

// Seconds of the search for values that a review lacks, and of one that is asked for.
const REVIEW = 10;
const LONG_REVIEW = 60;

// Judges the moves of the line: at once by the table, then by a search.
async function judge(limits = [0, REVIEW]) {
  const { game, table } = shown;
  const moves = game.line.slice(1).map(({ move }) => move.move).join(" ");
  const asked = { position: game.root.answer.position, form: "lines" };
  shown.reviewing?.abort();
  const mine = new AbortController();
  Object.assign(shown, { isReviewed: true, reviewing: mine });
  keep();
  if (!shown.hints) {
    // The setting that the browser keeps stays.
    shown.hints = true;
    arrive(shown.event ?? "", true);
  }
  try {
    for (const seconds of limits) {
      drawGame();
      const { games, moves: all, judged, values } = await api.review(table.table, moves, { ...asked, seconds, signal: mine.signal });
      if (shown?.reviewing !== mine) return;
      game.add(games[0]);
      game.values = values;
      if (judged === all) break;
    }
  } catch (refused) {
    if (shown?.reviewing === mine && refused instanceof api.Refused) fail(refused);
  } finally {
    if (shown?.reviewing === mine) {
      shown.reviewing = null;
      drawGame();
    }
  }
}

// Opens a position in any notation, to be explored or to be played against who plays already.
function open(text, players = [null, null]) {
  return attempt(async (current) => {
    const answer = await api.position(shown.table.table, text);
    if (!current()) return;
    begin(shown.table, new Game(shown.table, answer), players);
    remember();
  });
}

const opening = (names) => open("").then(() => failed.hidden && walk(names));

// Goes to a ply of the line; no policy replies.
const stand = (at, push = false) => standAt(shown.game.line[at], push);

// Goes to a position of the game.
function standAt(node, push = false) {
  const { game } = shown;
  shown.running = false;
  return attempt(async (current) => {
    await fetched(game, node);
    if (!current()) return;
    const at = game.line.indexOf(node);
    if (at >= 0) game.go(at);
    else game.stand(node);
    if (push) remember();
    else keep();
    arrive("", true);
  });
}

// Draws the current position, and announces the event.
function arrive(event, quietly = false, isAnimated = false) {
  const { game, table, players, hints } = shown;
  Object.assign(shown, { picked: null, marked: [], compared: [], editing: null, event });
  const over = result(game, players);
  const now = over || (hints ? verdict(game.answer, table) : "");
  const mover = game.answer.kind === "terminal" ? "" : `${game.answer.mover} to move.`;
  // Outside the table the verdict begins with the player to move.
  const text = [event, now.startsWith(mover) ? "" : mover, now && `${now}.`].filter(Boolean).join(" ");
  if (!quietly || said.textContent !== text) said.textContent = text;
  shown.isAnimated = isAnimated;
  draw();
  shown.isAnimated = false;
  shown.compare.show(game.answer.position);
  deepen();
  complete();
}

// Milliseconds between drawings of the list while its answers arrive.
const REDRAWN = 400;

// Asks for the positions of the line that have no answer yet, the nearest first, so that the curve has their estimates.
async function complete() {
  const { game } = shown;
  if (game.isCompleting) return;
  game.isCompleting = true;
  let drawn = Date.now();
  try {
    while (shown?.game === game && shown.hints) {
      const [next] = game.line
        .map((node, at) => ({ node, far: Math.abs(at - game.at) }))
        .filter(({ node }) => !node.answer)
        .sort((one, other) => one.far - other.far);
      if (!next) break;
      next.node.answer = await ask(game, game.pathTo(next.node));
      if (Date.now() - drawn < REDRAWN) continue;
      if (shown?.game === game) drawGame();
      drawn = Date.now();
    }
    if (shown?.game === game && drawn) drawGame();
  } catch (refused) {
    if (shown?.game === game) fail(refused);
  } finally {
    game.isCompleting = false;
  }
}

function cancelSearch() {
  search?.abort();
  search = null;
}

// Returns whether a search on request may prove values that are open here.
function isSearchable({ answer, table }) {
  if (!answer.moves.length) return false;
  if (isShogi(table) && table.states === null) return answer.result === null && !isSearched(answer);
  if (table.score_unit !== "disc") return false;
  const isOpen = answer.result === null || answer.moves.some((move) => grade(move) === "open");
  const empty = answer.board.cells.filter((cell) => !cell).length;
  return (isOpen || answer.kind === "outside") && (table.rows * table.columns <= 36 || empty <= 20);
}

// Searches the current position until all is proven, for longer each time, until the position is left.
async function deepen(isWanted = false) {
  cancelSearch();
  const { game, table, hints } = shown;
  const { node } = game;
  if (!(hints || isWanted) || !isSearchable({ answer: node.answer, table })) return;
  const mine = new AbortController();
  search = mine;
  const began = Date.now();
  const of = SEARCHES.reduce((sum, one) => sum + one);
  const tick = () => {
    if (search !== mine) return;
    shown.search = { seconds: Math.floor((Date.now() - began) / 1000), of };
    drawCard();
  };
  const timer = setInterval(tick, 500);
  try {
    for (const seconds of SEARCHES) {
      const answer = await ask(game, game.path, { seconds, signal: mine.signal });
      if (search !== mine) return;
      node.answer = answer;
      tick();
      draw();
      if (!isSearchable({ answer, table })) break;
    }
    said.textContent = `${verdict(node.answer, table)}.`;
  } catch (refused) {
    if (search === mine && refused instanceof api.Refused) fail(refused);
  } finally {
    clearInterval(timer);
    if (shown && (search === mine || search === null)) {
      shown.search = null;
      if (search === mine) search = null;
      if (shown.game === game) drawCard();
    }
  }
}

// Plays a move of the position that is shown.
function play(move) {
  // The turn of a policy is not the person's.
  if (toReply() !== undefined && shown.players.includes(null)) return undefined;
  return attempt((current) => advance(move, current)).then(reply);
}

async function advance(move, current, reason = "") {
  const { game, table, hints } = shown;
  const answer = game.after(move)?.answer ?? (await ask(game, [...game.path, move.move]));
  if (!current()) return;
  const mover = game.answer.mover;
  // Back leads to the positions in which a person chose.
  const isReply = toReply() !== undefined;
  game.play(move, answer);
  if (isReply) keep();
  else remember();
  if (shown.isReviewed) judge([0]);
  const lost = hints && game.cost(game.at);
  // The verdict says what is expected now, and how the game has ended.
  const isSaid = hints && grade(move) !== "open" && answer.kind !== "terminal";
  const value = [isSaid && words(move, table), lost && `a mistake: ${lost.words}`].filter(Boolean).join(", ");
  arrive(`${mover} plays ${move.move}${value && ": "}${value}.`, false, true);
  if (reason) shown.thoughts[table.sides.indexOf(mover)] = reason;
  drawPlayers();
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
  let hasMoved = false;
  return attempt(async (current) => {
    const { game, table } = shown;
    const asked = Date.now();
    const quiet = thinking(policy, asked, current);
    if (policy === "perfect" && isSearchable({ answer: game.answer, table })) await deepen(true);
    if (!current()) return;
    const decision = await chosenBy(standIn(policy, game.answer)).finally(quiet);
    await new Promise((done) => setTimeout(done, Math.max(0, PAUSE - (Date.now() - asked))));
    if (!current()) return;
    const chosen = drawn(decision);
    const move = game.answer.moves.find((one) => one.action === chosen.action) ?? chosen;
    await advance(move, current, thought(decision, policy, move));
    hasMoved = current();
  }).then(() => {
    // Whatever was done in between has its own consequences.
    if (!hasMoved || !shown || !failed.hidden) return;
    if (
      shown.running
        ? toReply() !== undefined
        : shown.players.some((player) => player === null) && toReply() !== undefined
    )
      step();
    else if (shown.running) run(false);
  });
}

// Seconds after which it is shown that a policy thinks.
const PATIENCE = 1;

// Shows that a policy thinks, and for how long, until the function that is returned is called. Cancelled, it can be asked again by
// Step.
function thinking(policy, began, current) {
  const of = shown;
  const end = () => {
    clearInterval(timer);
    if (!of.thinking) return;
    of.thinking = null;
    if (shown === of) drawCard();
  };
  const cancel = () => {
    turn += 1;
    main.removeAttribute("aria-busy");
    end();
    draw();
  };
  const timer = setInterval(() => {
    if (!current() || shown !== of) return end();
    const seconds = Math.floor((Date.now() - began) / 1000);
    if (seconds < PATIENCE) return undefined;
    of.thinking = { name: nameOf(policy), seconds, cancel };
    return drawCard();
  }, 500);
  return end;
}

// The decision of a policy here. The server answers for `perfect` only where its table proves all moves.
async function chosenBy(policy) {
  const { game, table } = shown;
  const { answer } = game;
  const isProven = !isSearched(answer) && answer.moves.every((move) => grade(move) !== "open");
  if (policy !== "perfect" || isProven) return api.decision(table.table, policy, answer.position);
  const best = bestMoves(answer);
  const moves = answer.moves.map((move) => ({ ...move, probability: best.includes(move) ? 1 / best.length : 0 }));
  return { policy, moves, expected_outcome: null, expected_score: null };
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

// A click on a square picks a piece up, puts it down, or plays.
function click(at) {
  if (shown.editing) {
    shown.editing.put(at);
    return draw();
  }
  shown.cursor = at;
  const view = { ...shown, answer: shown.game.answer };
  const legal = movesAt(view, at);
  if (shown.picked === at || !legal.length) return pick(null);
  if (shown.picked === null && legal[0].from !== null) return pick(at);
  return legal.length > 1 ? choose(legal) : play(legal[0]);
}

// A piece that was dragged is dropped on a square, or beside the board.
function drop(what, at) {
  const legal = shown.game.answer.moves.filter((move) => isOf(what, move) && move.to === at);
  if (!legal.length) return pick(null);
  shown.cursor = at;
  return legal.length > 1 ? choose(legal) : play(legal[0]);
}

function pick(what) {
  shown.picked = shown.picked === what ? null : what;
  drawBoard();
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

// The parts of the page that change during a game.
const parts = {};

// Names of the parts that are unfolded; they stay so in the next game.
const unfolded = new Set();

function foldable(name, content) {
  const made = el("details", { open: unfolded.has(name) }, el("summary", {}, name), content);
  made.addEventListener("toggle", () => (made.open ? unfolded.add(name) : unfolded.delete(name)));
  return made;
}

function frame() {
  for (const name of ["verdict", "far", "board", "near", "controls", "moves", "line", "game", "place"])
    parts[name] = el("div", { id: name });
  parts.moves.dataset.then = "button.move";
  renew(
    main,
    el(
      "div",
      { class: "columns" },
      el("section", { "aria-label": "Verdict", class: "verdict-area" }, parts.verdict),
      el("section", { "aria-label": "Board", class: "board-area" }, parts.far, parts.board, parts.near, parts.controls),
      el(
        "section",
        { "aria-label": "Moves and game", class: "rest-area" },
        el("h2", {}, "Moves"),
        parts.moves,
        parts.line,
        el("h2", {}, "Game"),
        parts.game,
        foldable("Open a position or a game", parts.place),
        foldable("Compare policies with the exact values", shown.compare.element),
        shown.openings,
        foldable("The table", shown.facts),
      ),
    ),
  );
}

function draw() {
  const { table, game, hints, editing } = shown;
  const answer = editing ? editing.drawn(game.answer) : game.answer;
  drawCard();
  drawPlayers();
  drawBoard();
  renew(parts.controls, controls());
  renew(
    parts.moves,
    editing
      ? el("p", { class: "note" }, "The position is being set up.")
      : moves({ table, answer, hints, onmove: play, onmark: point }),
  );
  renew(parts.line, !editing && hints && bestLine({ answer, online: walk }));
  drawGame();
  // Text that is being typed stays.
  if (!document.activeElement?.matches("#place textarea")) renew(parts.place, ...place(answer));
}

// Draws the moves so far, and what a review says of them.
function drawGame() {
  const { game, hints, isReviewed, reviewing, file } = shown;
  const cancel = () => {
    reviewing.abort();
    shown.reviewing = null;
    drawGame();
  };
  const choose = (index) => attempt((current) => openGame(file, index, current));
  renew(
    parts.game,
    played(game, (at) => stand(at, true), (node) => standAt(node, true), hints),
    hints && curve(game, (at) => stand(at, true)),
    game.line.length > 1 &&
      review({ game, file, isShown: isReviewed && hints, isRunning: reviewing !== null, judge: () => judge(), further: () => judge([LONG_REVIEW]), cancel, choose, go: (at) => stand(at, true) }),
    game.line.length > 1 && exports(),
  );
  scrollToMove();
}

// Scrolls the list of moves, and nothing else, to the current one.
function scrollToMove() {
  const [list, now] = ["ol.line", "ol.line .now"].map((part) => parts.game.querySelector(part));
  if (!list) return;
  if (!now) list.scrollTop = 0;
  else list.scrollTop = now.offsetTop - list.offsetTop - (list.clientHeight - now.offsetHeight) / 2;
}

function drawCard() {
  const { table, game, hints, players, event } = shown;
  const over = /You have \w+/.exec(result(game, players))?.[0];
  const { search: running } = shown;
  const cancel = () => {
    cancelSearch();
    shown.search = null;
    drawCard();
  };
  const { thinking: thinks } = shown;
  renew(parts.verdict, card({ answer: game.answer, table, hints, over, event, search: running, oncancel: cancel, thinks }));
}

function drawBoard() {
  const { game, table, editing } = shown;
  const answer = editing ? editing.drawn(game.answer) : game.answer;
  const { parent } = game.node;
  const move = parent && game.made(game.at);
  const last = editing || !move ? [] : [move.from, move.to].filter((at) => at !== null);
  const before = parent?.answer?.board.cells ?? [];
  const isTurned = (cell, at) => !table.pieces.length && before[at] && cell && before[at] !== cell;
  const turnedOver = last.length ? answer.board.cells.flatMap((cell, at) => (isTurned(cell, at) ? [at] : [])) : [];
  const distance = (at) => {
    const [row, column] = [Math.floor(at / table.columns), at % table.columns];
    return Math.max(Math.abs(row - Math.floor(move.to / table.columns)), Math.abs(column - (move.to % table.columns)));
  };
  const onfocus = (at) => {
    if (!Number.isNaN(at)) shown.cursor = at;
  };
  const won = row(game, answer);
  const view = { ...shown, answer, last, won, to: move?.to, turnedOver, distance, onfocus };
  renew(parts.board, board({ ...view, onsquare: click, onhand: pick, ondrop: drop }));
}

// The squares of the row that won with the last move, in games of rows.
function row(game, { board: { cells } }) {
  const { rows, columns, game: name } = game.table;
  if (!/^(connect-four|tic-tac-toe)/.test(name) || !game.isOver || !game.answer.outcome || !game.at) return [];
  const { to } = game.made(game.at);
  const side = (step, from) => {
    const [row, column] = [Math.floor(from / columns) + step[0], (from % columns) + step[1]];
    const at = row * columns + column;
    const isSame = row >= 0 && row < rows && column >= 0 && column < columns && cells[at] === cells[to];
    return isSame ? [at, ...side(step, at)] : [];
  };
  const lines = [[0, 1], [1, 0], [1, 1], [1, -1]].map((step) => [to, ...side(step, to), ...side(step.map((by) => -by), to)]);
  const most = Math.max(...lines.map((line) => line.length));
  return lines.filter((line) => line.length === most).flat();
}

function drawPlayers() {
  const far = shown.flipped ? 0 : 1;
  renew(parts.far, player(far));
  renew(parts.near, player(1 - far));
}

function player(number) {
  const { table, players, game, thoughts } = shown;
  const isMover = !game.isOver && game.side() === number;
  const choice = chooser(table.sides[number], table, "you", players[number] ?? "", (name) => {
    shown.players[number] = name || null;
    shown.thoughts[number] = null;
    shown.running = false;
    turn += 1;
    keep();
    draw();
    reply();
  });
  return el(
    "div",
    { class: isMover ? "player to-move" : "player" },
    choice,
    players[number] !== null && el("span", { class: "thought", title: thoughts[number] }, thoughts[number]),
  );
}

// The choice of a form, and buttons that copy and download the game in it.
function exports() {
  const { game, table, players } = shown;
  const names = players.map((one) => (one === null ? "a person" : nameOf(one)));
  const all = texts(game, names);
  const chosen = all.find(([name]) => name === shown.form) ?? all[0];
  // Runs what needs the text; a failure is shown.
  const withText = (act) => async () => {
    try {
      await act(await chosen[2]());
    } catch (why) {
      fail(why);
    }
  };
  const copy = async (text) => {
    const [name] = chosen;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const field = el("textarea", { "aria-label": name, value: text, readonly: true });
      const made = el("dialog", { "aria-label": `Copy ${name}`, onclose: () => made.remove() }, el("p", {}, `Copy this text (${name}):`), field, button("Close", () => made.close()));
      document.body.append(made);
      made.showModal();
      field.select();
      return;
    }
    said.textContent = `Copied: ${name}.`;
    shown.event = `Copied: ${name}.`;
    drawCard();
  };
  const save = (text) => {
    const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    el("a", { href: address, download: `${table.table}.${chosen[1]}` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };
  return el(
    "div",
    { class: "row" },
    select("Text", all.map(([name]) => [name, name]), chosen[0], (name) => {
      shown.form = name;
      draw();
    }),
    button("Copy", withText(copy)),
    button("Download", withText(save)),
  );
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
    paste(answer.position, openText),
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

function toggle(field) {
  shown[field] = !shown[field];
  try {
    const name = field === "hints" ? hintsOf(shown.players) : field;
    if (field !== "flipped") localStorage.setItem(`yomikiri ${name}`, JSON.stringify(shown[field]));
  } catch {
    // Without storage the setting lasts as long as the page.
  }
  keep();
  const { editing, event } = shown;
  arrive(event ?? "", true);
  if (editing) {
    shown.editing = editing;
    draw();
  }
}

function controls() {
  const { game, table, players } = shown;
  const both = players.every((one) => one !== null);
  const waits = toReply() !== undefined;
  const pressed = (text, field) => button(text, () => toggle(field), { "aria-pressed": String(shown[field]) });
  return el(
    "div",
    { class: "row" },
    button("Undo", () => stand(game.turn(-1, isPerson), true), { disabled: game.at === 0 }),
    button("Redo", () => stand(game.turn(1, isPerson), true), { disabled: game.at === game.line.length - 1 }),
    waits && button("Step", step),
    both && (shown.running ? button("Stop", () => run(false)) : waits && button("Run", () => run(true))),
    button("New game", restart),
    pressed("Flip", "flipped"),
    pressed("Hints", "hints"),
    pressed("Arrows", "arrows"),
    isShogi(table) && pressed("Kanji", "kanji"),
    button("?", help, { "aria-label": "Keys" }),
  );
}

const KEYS = [
  ["Left, Right", "a ply back or forward; on the board: the square beside"],
  [", and .", "a ply back or forward, on the board too"],
  ["Home, End", "the start or the end of the game"],
  ["Up, Down", "a move of the list; on the board: the square above or below"],
  ["Enter, Space", "play the move, pick the piece up or put it down"],
  ["Escape", "put down the piece that was picked up"],
  ["Tab", "to the board, the hands and all buttons"],
  ["1 to 9", "play the column of that number (Connect Four)"],
  ["h, a, f", "hints, arrows, flip the board"],
  ["?", "this list"],
];

function help() {
  const made = el(
    "dialog",
    { "aria-label": "Keys", onclose: () => made.remove() },
    el("h2", {}, "Keys"),
    el("dl", {}, KEYS.flatMap(([key, does]) => [el("dt", {}, key), el("dd", {}, does)])),
    button("Close", () => made.close()),
  );
  document.body.append(made);
  made.showModal();
}

const restart = () => open("", shown.players);

// Marks the squares of a move of the list on the board.
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

// Keys outside fields and dialogs; those of the board are handled there.
function key(event) {
  if (!shown || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.target.closest("input, select, dialog, textarea")) return;
  const { game } = shown;
  const plies = { ArrowLeft: game.at - 1, ",": game.at - 1, ArrowRight: game.at + 1, ".": game.at + 1, Home: 0, End: game.line.length - 1 };
  const to = plies[event.key];
  const toggles = { h: "hints", a: "arrows", f: "flipped" };
  const numbered = game.answer.moves.find(({ move }) => move === event.key);
  if (numbered) {
    play(numbered);
  } else if (to !== undefined) {
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
  } else if (event.key === "?") {
    help();
  } else if (toggles[event.key]) {
    toggle(toggles[event.key]);
  }
}

addEventListener("popstate", (event) => follow(event.state));
addEventListener("keydown", key);
follow(history.state);
