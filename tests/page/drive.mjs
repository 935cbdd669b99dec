// Drives the page of `solver serve` as a person would, in Chromium:
//     node drive.mjs ADDRESS SOLVER TABLES PACKAGES CHROMIUM FLAG…
// The values on the page are compared with those that `solver query --json` prints. Two renderings are checked,
// with YOMIKIRI_RENDERINGS=all every one.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const [address, solver, tables, packages, chromium, ...flags] = process.argv.slice(2);
const { chromium: browserType } = createRequire(`${packages}/`)("playwright-core");
const browser = await browserType.launch({ executablePath: chromium, args: flags });
const base = `http://${address}/`;
const OTHELLO = "othello-4x4";
const SHOGI = "animal-shogi-3x3-depth6";
const MINISHOGI = "minishogi-depth3";
const BOUNDED = "othello-4x4-depth2";
const LARGE = "othello-6x6-depth1";
const LARGEST = "othello-8x8-depth1";
const NIM = "nim-10";

function query(table, position) {
  return JSON.parse(
    execFileSync(solver, ["--tables", tables, "query", table, position, "--json"], { encoding: "utf8" }),
  );
}

// Complaints of the browser: each is a failure at the end.
const complaints = [];

async function visit(hash = "", { width = 1280, scheme = "light", hasTouch = false } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme, hasTouch });
  const page = await context.newPage();
  page.setDefaultTimeout(20000);
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error.stack ?? error)));
  await page.goto(base + hash);
  await page.waitForSelector("main > *");
  return page;
}

const link = (table, position) => `#${table}/${encodeURIComponent(position)}`;
const said = (page) => page.textContent("#said");
const saying = (page, part) =>
  page.waitForFunction((text) => document.getElementById("said").textContent.includes(text), part);
const named = (page) => page.evaluate(() => decodeURIComponent(location.hash.split("/")[1] ?? ""));
const standing = (page, position) =>
  page.waitForFunction((text) => decodeURIComponent(location.hash.split("/")[1] ?? "") === text, position);
const played = (page) => page.$$eval("ol.line .ply", (all) => all.length);
const havingPlies = (page, count) =>
  page.waitForFunction((wanted) => document.querySelectorAll("ol.line .ply").length === wanted, count);
// The board is there at once, its values when the server has answered.
const havingBadges = (page, count) =>
  page.waitForFunction((wanted) => document.querySelectorAll(".board .badge").length === wanted, count);
const unfold = (page, part) => page.click(`summary:has-text("${part}")`);
const minus = (number) => `${number > 0 ? "+" : number < 0 ? "\u2212" : ""}${Math.abs(number)}`;

// What the page shows of a position and its moves is what the table says.
async function compare(page, table, position) {
  const exact = query(table, position);
  await standing(page, exact.position);
  const asked = new URLSearchParams({ anywhere: true, estimate: true, position: exact.position });
  const answered = await (await fetch(`${base}api/v1/${table}?${asked}`)).json();
  const estimates = new Map(answered.moves.map(({ move, estimate }) => [move, estimate]));
  const rank = ({ move }) => {
    const one = estimates.get(move);
    return one ? (one.outcome ? one.outcome * (1e6 - one.distance) : one.advantage) : -1e9;
  };
  exact.moves.sort((one, other) => (one.result === null && other.result === null ? rank(other) - rank(one) : 0));
  await page.waitForFunction(
    (count) => document.querySelectorAll("button.move").length === count,
    exact.moves.length,
  );
  const rows = await page.$$eval(".move-row", (all) =>
    all.map((row) => [...row.children].map((cell) => cell.textContent)),
  );
  assert.deepEqual(
    rows,
    exact.moves.map((move) => {
      const guess = estimates.get(move.move);
      const about = guess?.outcome ? `${guess.outcome > 0 ? "W" : "L"}${guess.distance}` : guess && minus(Math.round(guess.advantage));
      const [lower, upper] = move.followed === false ? [-1, 1] : [move.outcome_lower, move.outcome_upper];
      const badge =
        move.followed === false || move.result === null
          ? lower === 0
            ? "≥D"
            : upper === 0
              ? "≤D"
              : about
                ? `≈${about}`
                : "–"
          : typeof move.score === "number"
            ? minus(move.score)
            : { win: "W", draw: "D", loss: "L" }[move.result] + (move.distance ?? "");
      const [best] = exact.moves;
      const isOpen = badge.match(/[≈≥≤–]/);
      const lost = isOpen || best.outcome === null ? [] : [
        move.outcome < best.outcome && `${best.result} → ${move.result}`,
        move.score < best.score && `\u2212${best.score - move.score}`,
      ].filter(Boolean);
      const gives = lost.length ? lost.join(", ") : move.best && !isOpen ? "best" : "";
      return [move.move, badge, String(move.distance ?? "–"), gives];
    }),
    `${table} ${position}`,
  );
  const cells = await page.$$eval("[data-square]", (all) =>
    all.map((cell) => cell.getAttribute("aria-label").split(", ").slice(0, 2)),
  );
  assert.equal(cells.length, exact.board.cells.length);
  exact.board.cells.forEach((cell, at) => {
    const [, content] = cells[at];
    assert.equal(content === "empty", cell === "", `${cells[at]}`);
    if (cell)
      assert.ok(
        content.startsWith(cell === cell.toUpperCase() && cell !== "O" ? "Black" : "White"),
        `${cell}: ${content}`,
      );
  });
  if (table === OTHELLO) {
    const best = exact.moves.filter((move) => move.best && move.to !== null).map((move) => move.move);
    const rings = await page.$$eval("[data-square]:has(.badge.best)", (all) =>
      all.map((cell) => cell.dataset.square),
    );
    assert.deepEqual(rings.sort(), best.sort());
  }
  const line = await page.$$eval(".best-line button", (all) => all.map((one) => one.textContent));
  assert.deepEqual(line, exact.principal_variation);
  return exact;
}

// The first paint of the page on a new visit, at best of some: others use the machine too.
async function itIsPaintedAtOnce() {
  const times = [];
  while (times.length < 40 && !times.some((time) => time < 200)) {
    const page = await visit(`#${OTHELLO}`);
    await page.waitForSelector(".board");
    times.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime));
    await page.context().close();
  }
  assert.ok(Math.min(...times) < 200, `${times}`);
}

const press = (page, name) => page.click(`#controls button:text-is("${name}")`);

// Cards of tables, which have counts.
const TABLES = '.game-card:has(details)';

async function theTablesAreListed() {
  const page = await visit();
  const listed = await page.$$eval(`${TABLES} small`, (all) => all.map((one) => one.textContent));
  assert.deepEqual(listed.sort(), [SHOGI, MINISHOGI, OTHELLO, BOUNDED, LARGE, LARGEST, NIM].sort());
  const pictures = await page.$$eval(`${TABLES} .thumb .board`, (all) => all.map((one) => one.getAttribute("aria-label")));
  // A game that is a list of states has no board.
  assert.equal(pictures.length, listed.length - 1);
  const wins = await page.textContent(`.game-card:has(a[aria-label="Play ${OTHELLO}"]) .wins`);
  assert.equal(wins, "White wins by 8 discs with best play");
  await page.click(`a[aria-label="Play ${OTHELLO}"]`);
  await page.waitForSelector(".board");
  // White can win, so it is the person's, without hints.
  await saying(page, "White to move");
  assert.deepEqual(await page.$$eval(".player select", (all) => all.map((one) => one.value)), ["", "alphabeta:2"]);
  assert.equal(await page.$$eval(".badge, .chip, .best-line", (all) => all.length), 0);
  await page.goBack();
  await page.waitForSelector(".tables");
  await page.click(`a[aria-label="Explore ${OTHELLO}"]`);
  await page.waitForSelector(".player select");
  assert.deepEqual(await page.$$eval(".player select", (all) => all.map((one) => one.value)), ["", ""]);
  await page.context().close();
}

// Plays a whole game as White against an opponent; `act` makes a move with a square, or passes.
async function wholeGame(page, act) {
  const over = async () => (await said(page)).includes("The game is over");
  await page.waitForFunction(() => document.querySelector(".board").getAttribute("aria-label").endsWith("White to move"));
  for (let turns = 0; !(await over()); turns++) {
    assert.ok(turns < 20, "the game does not end");
    const before = await played(page);
    const square = await page.$("[data-square].acts");
    await act(square && (await square.getAttribute("data-square")));
    await page.waitForFunction((count) => {
      const label = document.querySelector(".board").getAttribute("aria-label");
      const isMine = label.endsWith("White to move") && document.querySelectorAll("ol.line .ply").length >= count + 2;
      return isMine || document.getElementById("said").textContent.includes("The game is over");
    }, before);
  }
  assert.match(await said(page), /You have (won|lost)|a draw/i);
}

async function aWholeGameByMouse() {
  const page = await visit(`#${OTHELLO}`);
  await page.waitForSelector(".board");
  await page.selectOption('select[aria-label="Black"]', "alphabeta:1");
  await wholeGame(page, (square) => page.click(square ? `[data-square="${square}"]` : "button.move"));
  assert.match(await page.textContent("#near .thought"), /chose/);
  await page.context().close();
}

// A click while the opponent is to move plays nothing, and a game that is opened has no opponent.
async function turnsAreKept() {
  const page = await visit(`#${OTHELLO}`);
  await page.waitForFunction(() => document.querySelector(".board")?.getAttribute("aria-label").endsWith("White to move"));
  await page.click("[data-square].acts");
  await page.$$eval("[data-square].acts", ([first]) => first?.dispatchEvent(new MouseEvent("click", { bubbles: true })));
  await havingPlies(page, 3);
  await saying(page, "White to move");
  const third = await page.textContent("ol.line .ply:nth-child(3) button");
  assert.ok((await page.textContent("#near .thought")).includes(`chose ${third.split(" ")[1]}`), third);
  await unfold(page, "position or a game");
  await page.fill("textarea[name=position]", "b1a1");
  await page.click('.paste button:text-is("Go")');
  await havingPlies(page, 2);
  const players = () => page.$$eval(".player select", (all) => all.map((one) => one.value));
  assert.deepEqual(await players(), ["", ""]);
  // Another move of a reviewed game is judged too.
  await page.click("button.move >> nth=0");
  await page.waitForFunction(() => document.querySelector(".review .note")?.textContent.startsWith("3 of 3 moves"));
  // Back at once to the game before, which may have the same positions, and to its players.
  await page.goBack();
  await page.goBack();
  await page.waitForFunction(() => [...document.querySelectorAll(".player select")].map((one) => one.value).join() === ",alphabeta:2");
  assert.equal(await page.textContent("ol.line .ply:nth-child(3) button"), third);
  await page.context().close();
}

async function aWholeGameByTouch() {
  const page = await visit(`#${OTHELLO}`, { width: 390, scheme: "dark", hasTouch: true });
  await page.waitForSelector(".board");
  const top = () => page.$eval(".board", (board) => board.getBoundingClientRect().top + scrollY);
  const before = await top();
  await wholeGame(page, (square) => page.tap(square ? `[data-square="${square}"]` : "button.move"));
  assert.equal(await top(), before, "the board stays in place");
  await page.context().close();
}

async function aWholeGameByKeyboard() {
  const page = await visit(`#${OTHELLO}`);
  await page.waitForSelector(".board");
  const focused = () => page.evaluate(() => document.activeElement.dataset.square);
  const press = (key) => page.keyboard.press(key);
  await wholeGame(page, async (square) => {
    if (!square) {
      // Keys of the board stay on it, so the list is reached from its first button.
      await page.focus("button.move");
      return press("Enter");
    }
    for (let tabs = 0; !(await focused()); tabs++) {
      assert.ok(tabs < 60, "the board is not reached");
      await press("Tab");
    }
    const [column, row] = square;
    while ((await focused())[0] !== column) await press((await focused())[0] < column ? "ArrowRight" : "ArrowLeft");
    while ((await focused())[1] !== row) await press((await focused())[1] < row ? "ArrowDown" : "ArrowUp");
    await press("Enter");
    assert.equal(await focused(), square, "the focus stays where the move was made");
  });
  await press("?");
  await page.waitForSelector("dialog[open]");
  await press("Escape");
  await page.waitForSelector("dialog", { state: "detached" });
  await page.context().close();
}

// Variations stay when one goes back and plays otherwise; the game is copied and saved.
async function variationsAreKept() {
  const page = await visit(link(OTHELLO, "start"));
  await page.waitForSelector(".board");
  await page.click("[data-square=b1]");
  // The disc that is turned over moves, unless the system asks for reduced motion, and both are marked.
  await page.waitForSelector(".board .turned-over");
  const motion = () => page.$eval(".board .turned-over", (disc) => getComputedStyle(disc).animationName);
  assert.equal(await motion(), "turned-over");
  await page.emulateMedia({ reducedMotion: "reduce" });
  assert.equal(await motion(), "none");
  const marks = await page.$$eval("[data-square]:has(.last-dot, .flipped-dot)", (all) =>
    all.map((cell) => cell.dataset.square),
  );
  assert.deepEqual(marks, ["b1", "b2"]);
  await page.click("[data-square=a1]");
  await havingPlies(page, 2);
  await page.keyboard.press("Home");
  await page.click("[data-square=a2]");
  await havingPlies(page, 1);
  assert.deepEqual(await page.$$eval(".variations button", (all) => all.map((one) => one.textContent)), ["b1 a1"]);
  await page.reload();
  await page.click(".variations button");
  await havingPlies(page, 2);
  const { position } = query(OTHELLO, "b1");
  await standing(page, position);
  await page.click(".curve .hit >> nth=2");
  await standing(page, query(OTHELLO, "b1a1").position);
  assert.equal(await downloaded(page, "moves", "txt"), "b1a1");
  assert.equal(await downloaded(page, "OBF", "txt"), query(OTHELLO, "b1a1").notations.obf);
  const line = await downloaded(page, "game in a line", "txt");
  assert.equal(line, `# othello-4x4: a person against a person\n${query(OTHELLO, "start").position} moves b1 a1\n`);
  assert.match(await downloaded(page, "SGF", "sgf"), /^\(;FF\[4\]GM\[2\].*PB\[a person\].*;B\[b1\];W\[a1\]\)\n$/s);
  await page.context().close();
}

// Downloads the game of the page in a form.
async function downloaded(page, form, ending) {
  await page.selectOption('select[aria-label="Text"]', form);
  const saved = page.waitForEvent("download");
  await page.click('button:text-is("Download")');
  const file = await saved;
  assert.equal(file.suggestedFilename().split(".").at(-1), ending);
  return readFileSync(await file.path(), "utf8");
}

// A position that the table does not prove is searched, and the search ends when it is left.
async function unprovenPositionsAreSearched() {
  const page = await visit(link(BOUNDED, "start"));
  await page.waitForSelector(".board");
  await page.waitForFunction(() => document.querySelector(".facts").textContent.includes("known by search"));
  assert.equal(await page.textContent(".headline"), "White wins by 8 discs");
  await page.context().close();
  // No stored solution has this position, so its search takes long.
  const large = await visit(link(LARGE, "--------------XX----OX-------------- O;"));
  const cancelled = large.waitForEvent("requestfailed", (request) => request.url().includes("seconds="));
  await large.waitForSelector("progress");
  await large.click("#home");
  await large.waitForSelector(".tables");
  await cancelled;
  await large.context().close();
}

// Every game is there without a table: estimates are marked, what is proven is not, and a game ends as it does elsewhere.
async function gamesWithoutATableArePlayed() {
  const start = await visit();
  const wins = '.game-card:has(a[aria-label="Play othello-6x6"]) .wins';
  await start.waitForFunction((where) => document.querySelector(where).textContent, wins);
  assert.equal(await start.textContent(wins), "White wins by 4 discs with best play, by a solution that comes with the program");
  await start.click('summary:has-text("Other sizes")');
  assert.ok((await start.$$('a[aria-label^="Play othello-"]')).length >= 20);
  await start.click('a[aria-label="Explore othello-6x6"]');
  await start.waitForFunction(() => document.querySelector(".headline")?.textContent === "White wins by 4 discs");
  await start.context().close();
  const page = await visit(link("othello-8x8", "start"));
  await havingBadges(page, 4);
  const asked = await (await fetch(`${base}api/v1/othello-8x8?anywhere=true&estimate=true`)).json();
  assert.equal(asked.estimate.nodes, 20000);
  const about = `≈${minus(Math.round(asked.estimate.advantage))}`;
  assert.equal(await page.textContent(".headline"), `Black: ${about}`);
  assert.ok((await page.textContent(".facts")).includes("an estimate, 20,000 nodes"));
  assert.deepEqual(await page.$$eval(".board .badge.open + .on", (all) => [...new Set(all.map((one) => one.textContent))]), [about]);
  assert.equal(await page.$$eval(".bar-estimate", (all) => all.length), 1);
  await page.context().close();
  for (const [game, most] of [["othello-8x8", 130], ["connect-four", 42], ["minishogi", 500]]) {
    const page = await visit(link(game, "start"));
    await page.waitForSelector(".board");
    for (let plies = 1; !(await said(page)).includes("The game is over"); plies++) {
      assert.ok(plies <= most, game);
      await page.click("button.move >> nth=0");
      await havingPlies(page, plies);
      if (plies === 2) {
        const isGuessed = game !== "connect-four";
        assert.equal((await page.$$eval(".curve circle.guess", (all) => all.length)) === 3, isGuessed);
      }
    }
    if (game === "minishogi") {
      // The history may have ended it, so the moves say how.
      const moves = await page.$$eval("ol.line .ply button", (all) => all.map((one) => one.textContent.split(" ")[1]));
      const asked = new URLSearchParams({ anywhere: true, position: "start", moves: moves.join(" ") });
      const { kind, end: why, winner } = await (await fetch(`${base}api/v1/${game}?${asked}`)).json();
      assert.equal(kind, "terminal");
      assert.ok((await said(page)).includes(`The game is over${winner ? `, ${winner} has won` : ""}: ${why}`), await said(page));
      await page.context().close();
      continue;
    }
    const end = query(game, await named(page));
    const score = typeof end.score === "number" && end.score !== 0 ? ` by ${Math.abs(end.score)} disc` : "";
    const other = end.mover === "Black" ? "White" : "Black";
    if (game === "connect-four")
      assert.ok((await said(page)).includes(end.outcome === 0 ? "a draw" : `${end.outcome > 0 ? end.mover : end.mover === "Red" ? "Yellow" : "Red"} wins`), await said(page));
    else
      assert.ok((await said(page)).includes(end.outcome === 0 ? "a draw" : `${end.outcome > 0 ? end.mover : other} wins${score}`), await said(page));
    await page.context().close();
  }
}

// A game that is a list of states is played to its end against a level, by its numbers; the values are the table's.
async function aListedGameIsPlayed() {
  const page = await visit(link(NIM, "start"));
  await compare(page, NIM, "start");
  assert.equal(await page.textContent(".diagram"), "10 stones");
  // Two stones leave 8, of which whoever takes loses; after any reply the multiple of four is restored.
  const side = await page.$eval("#near select", (one) => one.getAttribute("aria-label"));
  const other = await page.$eval("#far select", (one) => one.getAttribute("aria-label"));
  await page.selectOption(`select[aria-label="${other}"]`, "alphabeta:2");
  for (let stones = 10; stones > 0; ) {
    await page.keyboard.press(String(stones % 4));
    await page.waitForFunction((left) => {
      const text = document.querySelector(".diagram").textContent;
      return parseInt(text, 10) < left || document.getElementById("said").textContent.includes("The game is over");
    }, stones - (stones % 4));
    stones = parseInt(await page.textContent(".diagram"), 10);
  }
  assert.ok((await said(page)).includes(`The game is over: ${side} wins. You have won`), await said(page));
  await page.context().close();
}

// In Connect Four a click anywhere in a column plays it, and so does its number; the winning row is marked.
async function columnsArePlayed() {
  const page = await visit(link("connect-four", "start"));
  await page.waitForSelector(".board");
  const moves = ["4", "5", "4", "5", "4", "5", "4"];
  for (const [at, column] of moves.entries()) {
    if (at % 2) await page.keyboard.press(column);
    else await page.click(`[data-square="column ${column}, row 6"]`);
    await havingPlies(page, at + 1);
  }
  await saying(page, "The game is over: Red wins");
  const row = await page.$$eval("[data-square]:has(.ring)", (all) => all.map((one) => one.dataset.square));
  assert.deepEqual(row, [4, 3, 2, 1].map((row) => `column 4, row ${row}`));
  await page.context().close();
}

// A game in any form opens with its review, whose figures are those of the command; a reload keeps it.
async function aPastedGameIsReviewed() {
  const page = await visit(link(OTHELLO, "start"));
  await page.waitForSelector(".board");
  await unfold(page, "position or a game");
  const sgf = "(;FF[4]GM[2]SZ[4]PB[Ada]PW[Bob]\n;B[a2];W[a3]\n;B[a4];W[c1];B[d1])";
  const file = `${tables}/pasted.sgf`;
  writeFileSync(file, sgf);
  const args = ["--tables", tables, "review", OTHELLO, file, "--json"];
  const expected = JSON.parse(execFileSync(solver, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
  async function holds() {
    await page.waitForSelector(".review tbody");
    const rows = await page.$$eval(".review tbody tr", (all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
    const { moves } = expected.games[0];
    const side = (name) => {
      const all = moves.filter((one) => one.side === name && one.result_lost !== null);
      const total = (field) => all.reduce((sum, one) => sum + one[field], 0);
      const mistakes = all.filter((one) => one.result_lost || one.score_lost).length;
      return [name, all.length, mistakes, all.filter((one) => one.result_lost).length, total("score_lost")].map(String);
    };
    assert.deepEqual(rows, ["Black", "White"].map(side));
    const worst = await page.$$eval(".review .mistakes button", (all) => all.map((one) => one.textContent));
    const isLost = ({ ply }) => moves[ply - 1].result_lost || moves[ply - 1].score_lost;
    assert.deepEqual(worst, expected.worst.filter(isLost).slice(0, 6).map(({ ply }) => `${ply}. ${moves[ply - 1].move}`));
  }
  assert.ok(expected.worst.length > 1 && expected.judged === 5);
  await page.fill("textarea[name=position]", sgf);
  await page.click('.paste button:text-is("Go")');
  await havingPlies(page, 5);
  await holds();
  await page.reload();
  await havingPlies(page, 5);
  await holds();
  // A costly move is gone to; the game is known there without having been walked through.
  await page.click(".review .mistakes button");
  const [{ ply }] = expected.worst;
  await standing(page, expected.games[0].moves[ply].position);
  assert.equal(await page.$$eval(".last", (all) => all.length), 1);
  // A file is opened too, and of several games one is chosen.
  await page.setInputFiles("input[type=file]", { name: "two.txt", mimeType: "text/plain", buffer: Buffer.from("b1a1\nb1a1a2\n") });
  await havingPlies(page, 2);
  await page.selectOption('select[aria-label="Game"]', "1");
  await havingPlies(page, 3);
  // Whoever has played asks for the review.
  await press(page, "New game");
  await page.click("[data-square=b1]");
  await page.click('button:text-is("Review the game")');
  await page.waitForFunction(() => document.querySelector(".review tbody td")?.textContent === "1");
  await page.context().close();
}

// A game of 600 moves is kept over a reload, and each step is quick.
async function aLongGameStaysQuick() {
  const moves = [];
  let seed = 1;
  let legal = [];
  const asked = async (names) => {
    const query = new URLSearchParams({ anywhere: true, position: "start", moves: names.join(" ") });
    return (await (await fetch(`${base}api/v1/minishogi?${query}`)).json()).moves.map(({ move }) => move);
  };
  legal = await asked(moves);
  while (moves.length < 600) {
    seed = (seed * 48271) % 2147483647;
    const move = legal.splice(seed % legal.length, 1)[0];
    if (!move) {
      // Every move ends the game: another one is looked for some plies before.
      moves.length -= 5;
      legal = await asked(moves);
      continue;
    }
    const next = await asked([...moves, move]);
    if (!next.length) continue;
    moves.push(move);
    legal = next;
  }
  const page = await visit(link("minishogi", "start"));
  await page.waitForSelector(".board");
  await press(page, "Hints");
  await unfold(page, "position or a game");
  await page.fill("textarea[name=position]", moves.join(" "));
  await page.click('.paste button:text-is("Go")');
  await havingPlies(page, 600);
  await press(page, "Hints");
  const times = [];
  for (let at = 599; at > 594; at--) {
    const begin = Date.now();
    await page.keyboard.press(",");
    await page.waitForFunction((ply) => document.querySelector("ol.line .now button")?.textContent.startsWith(`${ply}. `), at);
    times.push(Date.now() - begin);
  }
  assert.ok(Math.min(...times) < 500, `${times}`);
  assert.ok(await page.$eval("ol.line", (list) => list.scrollTop > 1000), "the list follows");
  await page.reload();
  await havingPlies(page, 600);
  await page.waitForFunction(() => document.querySelector("ol.line .now button")?.textContent.startsWith("595. "));
  await page.context().close();
}

// Everything that one needs to play fits a small laptop, and each button is large enough for a finger.
async function aGameFitsTheWindow() {
  const context = await browser.newContext({ viewport: { width: 1366, height: 650 } });
  const page = await context.newPage();
  for (const game of [OTHELLO, SHOGI, "othello-8x8", "connect-four", "minishogi"]) {
    await page.goto(`${base}#${game}`);
    await page.waitForSelector("#controls button");
    for (const part of ["#far", "#board", "#near", "#controls", "#verdict", "#moves"]) {
      const { bottom, right } = await page.$eval(part, (one) => one.getBoundingClientRect());
      assert.ok(bottom <= 650 && right <= 1366, `${game}: ${part} ends at ${bottom}`);
    }
    const small = await page.$$eval("button:not(.word), select, a.button", (all) =>
      all.filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 40).map((one) => one.textContent),
    );
    assert.deepEqual(small, [], game);
    assert.equal(await page.$$eval('#board [tabindex="0"], #board button:not([tabindex])', (all) => all.length), 1, game);
  }
  await context.close();
}

// Two policies on one board, and the positions in which they differ.
async function policiesAreCompared() {
  const page = await visit(link(OTHELLO, "start"));
  await page.waitForSelector(".board");
  await unfold(page, "Compare");
  await page.selectOption('select[aria-label="Policy A"]', "greedy");
  await page.selectOption('select[aria-label="Policy B"]', "perfect");
  // At the start all moves are alike to both.
  await page.waitForFunction(() => document.querySelectorAll(".board .wanted").length === 8);
  await page.click('button:text-is("Where they differ, worst first")');
  await page.waitForSelector(".mistakes li");
  const [first] = await page.$$eval(".mistakes li", (all) => all.map((one) => one.textContent));
  assert.match(first, /Greedy plays \w\d instead of .*turns a win into a loss.*the other plays/);
  await page.click(".mistakes button");
  await page.waitForSelector(".board .wanted.A");
  await page.context().close();
}

const isThorough = process.env.YOMIKIRI_RENDERINGS === "all";
const RENDERINGS = isThorough
  ? [[1280, "light"], [1280, "dark"], [390, "light"], [390, "dark"]]
  : [[1280, "light"], [390, "dark"]];

// Nothing scrolls sideways, and axe finds nothing, with all parts unfolded.
async function everyRenderingIsSound() {
  const axe = readFileSync(`${packages}/axe-core/axe.min.js`, "utf8");
  for (const [width, scheme] of RENDERINGS) {
    for (const hash of ["", link(OTHELLO, "b1a1"), `#${SHOGI}`, ...(isThorough ? [`#${MINISHOGI}`] : [])]) {
      const page = await visit(hash, { width, scheme });
      if (hash) await page.waitForSelector(".board");
      if (hash.startsWith(`#${OTHELLO}`)) {
        await page.click("button.move >> nth=-1");
        await page.waitForSelector("ol.line .now");
        await press(page, "Arrows");
      }
      for (const summary of await page.$$("details:not([open]) > summary")) await summary.click();
      if (hash) {
        await page.click('button:text-is("Count")');
        await page.waitForSelector("details td");
        await page.selectOption('select[aria-label="Policy A"]', "greedy");
        await page.waitForSelector(".board .wanted");
      }
      const [all, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(all <= seen, `${hash} at ${width}: ${all}`);
      const dark = await page.evaluate(
        () => parseInt(getComputedStyle(document.body).backgroundColor.match(/\d+/)[0], 10) < 80,
      );
      assert.equal(dark, scheme === "dark");
      await page.evaluate(axe);
      const faults = await page.evaluate(async () =>
        (await window.axe.run({ resultTypes: ["violations"] })).violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html}`)),
      );
      // Its script adds one of its own, which the page forbids.
      complaints.splice(0, complaints.length, ...complaints.filter((text) => !text.includes("inline script")));
      assert.deepEqual(faults, [], `${hash} at ${width}, ${scheme}`);
      await page.context().close();
    }
  }
}

async function aGameAgainstPerfectIsLost() {
  const page = await visit(link(OTHELLO, "start"));
  await page.waitForSelector(".board");
  await page.selectOption('select[aria-label="White"]', "perfect");
  let plies = 0;
  while (!(await said(page)).includes("You have lost")) {
    assert.ok(plies++ < 20, "the game does not end");
    const before = await played(page);
    await page.click("button.move >> nth=-1");
    await page.waitForFunction((count) => {
      const text = document.getElementById("said").textContent;
      const isMine = document.querySelector(".board")?.getAttribute("aria-label").endsWith("Black to move");
      return (
        text.includes("The game is over") ||
        (document.querySelectorAll("ol.line .ply").length >= count + 2 && isMine)
      );
    }, before);
  }
  assert.match(await said(page), /^(Black|White) plays \S+[:.] .*White wins by \d+ discs?\. You have lost/);
  const all = await played(page);
  assert.equal(await page.$$eval(".curve circle", (list) => list.length), all + 1);
  const end = await named(page);
  await press(page, "Undo");
  await saying(page, "Black to move");
  assert.notEqual(await named(page), end);
  await compare(page, OTHELLO, await named(page));
  assert.equal(await played(page), all, "undo forgets nothing");
  await page.keyboard.press("End");
  await standing(page, end);
  await page.goBack();
  await saying(page, "Black to move");
  await press(page, "New game");
  await page.waitForFunction(() => document.querySelectorAll("ol.line .ply").length === 0);
  await page.context().close();
}

async function positionsArePastedAndLinked() {
  const page = await visit(link(OTHELLO, "start"));
  await page.waitForSelector(".board");
  await unfold(page, "Position");
  await page.fill("textarea[name=position]", "b1a1a2");
  await page.click('.paste button:text-is("Go")');
  const { position } = await compare(page, OTHELLO, "b1a1a2");
  const linked = await visit(link(OTHELLO, position));
  await compare(linked, OTHELLO, position);
  await linked.context().close();
  // Its mirror images are worth the same; four turns lead back.
  const value = await said(page);
  for (const name of ["Mirror", "Turn", "Turn", "Turn", "Turn", "Mirror"]) {
    const before = await named(page);
    await page.click(`button:text-is("${name}")`);
    await page.waitForFunction((text) => decodeURIComponent(location.hash.split("/")[1]) !== text, before);
    await compare(page, OTHELLO, await named(page));
    assert.equal(await said(page), value);
  }
  assert.equal(await named(page), position);
  // By clicks on the board: the move, its cost, and what the game's list says of it.
  await page.fill("textarea[name=position]", "b1");
  await page.click('.paste button:text-is("Go")');
  const exact = await compare(page, OTHELLO, "b1");
  const worst = exact.moves.at(-1);
  assert.ok(worst.score < exact.moves[0].score);
  await page.click(`[data-square=${worst.move}]`);
  await standing(page, worst.position);
  assert.match(await said(page), new RegExp(`White plays ${worst.move}: .*a mistake`));
  assert.ok((await page.textContent("ol.line .lost")).endsWith(`\u2212${exact.moves[0].score - worst.score}`));
  await page.goBack();
  await compare(page, OTHELLO, "b1");
  await page.keyboard.press("Control+Home");
  // Hints off: nothing on the page tells a value.
  await press(page, "Hints");
  assert.equal(await page.$$eval(".badge, .chip, .best-line", (all) => all.length), 0);
  assert.equal(await page.$$eval(".dot", (all) => all.length), exact.moves.length);
  await press(page, "Hints");
  await press(page, "Flip");
  const first = await page.$eval('[data-square="a1"]', (cell) => cell.getAttribute("transform"));
  assert.equal(first, "translate(340 340)");
  // Along best play.
  await page.click(".best-line button >> nth=1");
  await havingPlies(page, 3);
  // A board set up by hand.
  await page.click('button:text-is("Set up on the board")');
  await page.selectOption('select[aria-label="Put"]', "X");
  await page.click('[data-square="a1"]');
  await page.selectOption('select[aria-label="To move"]', "1");
  assert.match(await page.getAttribute('[data-square="a1"]', "aria-label"), /^a1, Black disc/);
  const kept = await page.$$eval("[data-square]", (all) =>
    all.map((cell) => cell.getAttribute("aria-label").split(", ")[1]),
  );
  await page.click('button:text-is("Use it")');
  const cells = kept.map((content) => ({ empty: "-", "Black disc": "X", "White disc": "O" })[content]);
  await standing(page, `${cells.join("")} O;`);
  await saying(page, "White to move");
  // What cannot be read is told, and the position stays.
  assert.deepEqual(complaints, []);
  await page.fill("textarea[name=position]", "nonsense");
  await page.click('.paste button:text-is("Go")');
  await page.waitForSelector("#failed:not([hidden])");
  assert.match(await page.textContent("#failed"), /; /);
  assert.ok(
    complaints.every((text) => text.includes("400")),
    `${complaints}`,
  );
  complaints.length = 0;
  await page.context().close();
}

async function aMoveByKeyboardAlone() {
  const page = await visit(link(OTHELLO, "start"));
  await page.waitForSelector(".board");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  const chosen = await page.evaluate(() => document.activeElement.dataset.move);
  await page.keyboard.press("Enter");
  const { position } = query(OTHELLO, chosen);
  await standing(page, position);
  await page.keyboard.press("ArrowLeft");
  await standing(page, query(OTHELLO, "start").position);
  await page.keyboard.press("ArrowRight");
  await standing(page, position);
  // The squares of legal moves are reached by Tab, are named, and show the focus.
  for (let at = 0; at < 40; at++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(() => document.activeElement.matches("[data-square]"))) break;
  }
  const name = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  assert.match(name, /^[a-d][1-4], empty, [a-d][1-4]: (win|draw|loss)/);
  await page.keyboard.press("Space");
  await page.waitForFunction(() => document.querySelectorAll("ol.line .ply").length === 2);
  await page.context().close();
}

async function policiesPlayAndAreJudged() {
  const page = await visit(link(OTHELLO, "start"));
  await page.waitForSelector(".board");
  await unfold(page, "Compare");
  await page.selectOption('select[aria-label="Policy A"]', "greedy");
  const bars = await page
    .waitForSelector("details[open] .bar")
    .then(() => page.$$eval("details .bar span", (all) => all.map((one) => parseFloat(one.textContent))));
  assert.ok(Math.abs(bars.reduce((sum, part) => sum + part) - 100) <= 2, `${bars}`);
  // Any other policy by its name.
  page.once("dialog", (dialog) => dialog.accept("mcts:20"));
  await page.selectOption('select[aria-label="Policy A"]', "another …");
  await page.waitForFunction(() => document.querySelector('select[aria-label="Policy A"]').value === "mcts:20");
  await page.selectOption('select[aria-label="Policy A"]', "greedy");
  await page.click('button:text-is("Worst mistakes of A")');
  await page.waitForSelector(".mistakes li");
  const wrong = await page.textContent(".mistakes button");
  await page.click(".mistakes button");
  await compare(page, OTHELLO, wrong);
  await press(page, "New game");
  for (const side of ["White", "Black"])
    await page.selectOption(`select[aria-label="${side}"]`, side === "White" ? "perfect" : "greedy");
  await press(page, "Step");
  await page.waitForFunction(() => document.querySelectorAll("ol.line .ply").length > 0);
  await press(page, "Run");
  await saying(page, "The game is over");
  await page.context().close();
}

async function openingsLeadIntoTheGame() {
  const page = await visit(link(OTHELLO, "b1a1"));
  await page.click('summary:text-is("Openings")');
  // The four first moves are mirror images of each other.
  await page.waitForSelector(".openings li");
  const firsts = await page.$$eval(".openings > li", (all) => all.map((one) => one.textContent));
  assert.equal(firsts.length, 1);
  assert.match(firsts[0], /4 alike/);
  const first = query(OTHELLO, "start").moves[0].move;
  await page.click(".openings .more");
  const replies = query(OTHELLO, first).moves;
  await page.waitForFunction(
    (count) => document.querySelectorAll(".openings .openings > li").length === count,
    replies.length,
  );
  const shown = await page.$$eval(".openings .openings .chip", (all) => all.map((one) => one.textContent));
  assert.deepEqual(shown, replies.map((move) => minus(move.score)));
  await page.click(".openings .openings li button >> nth=1");
  await page.waitForFunction(() => document.querySelectorAll("ol.line .ply").length === 2);
  await compare(page, OTHELLO, first + replies[0].move);
  // In shogi a mirror image is another position, and the standard start is none of its own.
  const shogi = await visit(link(SHOGI, "start"));
  await shogi.click('summary:text-is("Openings")');
  await shogi.waitForSelector(".openings li");
  const moves = query(SHOGI, "start").moves.map((move) => `1. ${move.move}`);
  assert.deepEqual(await shogi.$$eval(".openings button:not(.more)", (all) => all.map((one) => one.textContent)), moves);
  for (const one of [page, shogi]) await one.context().close();
}

async function aReloadKeepsTheGame() {
  const page = await visit(link(OTHELLO, "start"));
  await page.waitForSelector(".board");
  await page.selectOption('select[aria-label="White"]', "perfect");
  for (const plies of [2, 4]) {
    await page.click("button.move >> nth=0");
    await page.waitForFunction((count) => document.querySelectorAll("ol.line .ply").length >= count, plies);
    await saying(page, "Black to move");
  }
  await press(page, "Undo");
  await page.waitForFunction(() => document.querySelector("ol.line .now button").textContent.startsWith("2."));
  const seen = async () => ({
    at: await named(page),
    line: await page.$$eval("ol.line .ply", (all) => all.map((one) => one.className + one.textContent)),
    players: await page.$$eval(".player select", (all) => all.map((one) => one.value)),
  });
  const before = await seen();
  assert.deepEqual(before.players, ["perfect", ""]);
  assert.ok(before.line.length >= 4);
  await page.reload();
  await page.waitForSelector("ol.line .ply");
  assert.deepEqual(await seen(), before);
  await press(page, "Redo");
  await saying(page, "Black to move");
  await page.goBack();
  await standing(page, before.at);
  assert.equal((await seen()).line.length, before.line.length, "going back forgets nothing");
  await page.context().close();
}

async function shogiHasHandsAndBounds() {
  const page = await visit(link(SHOGI, "start"));
  await compare(page, SHOGI, "start");
  // A piece is picked up and put down: the chick takes a chick, which is then held.
  await page.click('[data-square="2c"]');
  assert.ok(await page.$eval('[data-square="2c"]', (cell) => cell.classList.contains("picked")));
  await page.keyboard.press("Escape");
  // Another is dragged there, and dropped beside its squares first.
  for (const to of ["1a", "3b"]) await page.dragAndDrop('[data-square="3c"]', `[data-square="${to}"]`);
  await compare(page, SHOGI, "3c3b");
  const mini = await visit(link(MINISHOGI, "start"));
  await mini.waitForSelector(".board");
  await unfold(mini, "Position");
  await compare(mini, MINISHOGI, "start");
  assert.match(await said(mini), /not proven/);
  await mini.fill("textarea[name=position]", "5d5c 1b1c 5e4d");
  await mini.click('.paste button:text-is("Go")');
  await compare(mini, MINISHOGI, "5d5c 1b1c 5e4d");
  assert.match(await said(mini), /the table ends here/);
  await mini.click("button.move >> nth=0");
  await saying(mini, "The table does not have this position: it goes 3 plies deep");
  assert.ok((await mini.$$eval("button.move", (all) => all.length)) > 5, "it can be played on");
  // The hand: a pawn in it can be dropped.
  await mini.fill("textarea[name=position]", "rbsgk/4p/5/5/KGSBR b P 1");
  await mini.click('.paste button:text-is("Go")');
  await mini.click('[data-hand="Black"] button');
  await mini.click('[data-square="5c"]');
  await saying(mini, "Black plays P*5c");
  // A move that may promote or not asks.
  await mini.fill("textarea[name=position]", "4k/R4/5/5/K4 b - 1");
  await mini.click('.paste button:text-is("Go")');
  await standing(mini, "4k/R4/5/5/K4 b - 1");
  await mini.click('[data-square="5b"]');
  await mini.click('[data-square="5a"]');
  await mini.click('dialog button:has-text("promotes")');
  await saying(mini, "Black plays 5b5a+");
  for (const one of [page, mini]) await one.context().close();
}

// Plays moves of the list, by name or the one at a place, until they end or the game does; returns the last words.
async function playedOn(page, moves, most = moves.length) {
  for (let ply = 0; ply < most && !(await said(page)).includes("The game is over"); ply++) {
    const before = await played(page);
    const name = moves[ply % moves.length];
    await page.click(typeof name === "string" ? `button.move[data-move="${name}"]` : `button.move >> nth=${name}`);
    await havingPlies(page, before + 1);
    assert.doesNotMatch(await page.textContent("#moves"), /There are no moves/);
  }
  return said(page);
}

// Games of boards without a whole table are played to their end: a full board, a mate, a repetition.
async function gamesGoOnBeyondTheTable() {
  const page = await visit(link(LARGEST, "start"));
  await page.waitForSelector(".board");
  // Without hints nothing is searched on the way.
  await press(page, "Hints");
  const text = await playedOn(page, [0, -1, 0, 0], 130);
  assert.match(text, /The game is over: (a draw|(Black|White) wins by \d+ discs?)/);
  assert.ok((await played(page)) > 30, "8x8 was played to its end");
  await page.context().close();

  const mini = await visit(link(MINISHOGI, "1r2k/5/5/5/K4 w - 1"));
  await mini.waitForSelector(".board");
  const round = ["4a5a", "5e4e", "5a4a", "4e5e"];
  await playedOn(mini, round.slice(0, 1));
  assert.equal(await mini.textContent(".facts span"), "Black to move, in check");
  assert.match(await mini.getAttribute('[data-square="5e"]', "aria-label"), /Black king, in check/);
  assert.equal(await mini.$$eval(".board .check", (all) => all.length), 1);
  await playedOn(mini, [...round.slice(1), ...round]);
  // What has been repeated so far is known after a reload, too.
  await mini.reload();
  await havingPlies(mini, 8);
  assert.doesNotMatch(await playedOn(mini, round.slice(0, 3)), /over/);
  assert.match(await playedOn(mini, round.slice(3)), /The game is over, Black has won: perpetual check by White/);
  assert.equal(await mini.textContent(".headline"), "Black wins");
  assert.equal(await mini.textContent("#moves"), "The game is over.");
  await press(mini, "Undo");
  await saying(mini, "Black to move");

  // The fourth occurrence of the start is a win of White, and a mate outside the table is announced.
  await unfold(mini, "Position");
  await mini.fill("textarea[name=position]", "start");
  await mini.click('.paste button:text-is("Go")');
  await standing(mini, "rbsgk/4p/5/P4/KGSBR b - 1");
  const rounds = [1, 2, 3].flatMap(() => ["4e4d", "2a2b", "4d4e", "2b2a"]);
  assert.match(await playedOn(mini, rounds), /The game is over, White has won: the position has occurred for the fourth time/);
  await mini.fill("textarea[name=position]", "2s2/K2gk/2b2/1g3/5 w RBS2Pr 1");
  await mini.click('.paste button:text-is("Go")');
  await saying(mini, "White to move");
  assert.match(await playedOn(mini, ["R*5a"]), /The game is over, White has won: Black is mated/);
  assert.equal(await mini.$$eval(".board .check", (all) => all.length), 1);
  // The first legal moves, whatever they are, lead to an end as well.
  await mini.fill("textarea[name=position]", "4k/5/5/5/KR3 b G 1");
  await mini.click('.paste button:text-is("Go")');
  await saying(mini, "Black to move");
  assert.match(await playedOn(mini, [0], 400), /The game is over/);
  await mini.context().close();
}

try {
  const all = [
    theTablesAreListed,
    aGameAgainstPerfectIsLost,
    positionsArePastedAndLinked,
    aMoveByKeyboardAlone,
    policiesPlayAndAreJudged,
    openingsLeadIntoTheGame,
    aReloadKeepsTheGame,
    shogiHasHandsAndBounds,
    gamesGoOnBeyondTheTable,
    variationsAreKept,
    unprovenPositionsAreSearched,
    gamesWithoutATableArePlayed,
    aListedGameIsPlayed,
    columnsArePlayed,
    aPastedGameIsReviewed,
    aLongGameStaysQuick,
    aGameFitsTheWindow,
    policiesAreCompared,
    aWholeGameByMouse,
    turnsAreKept,
    aWholeGameByTouch,
    aWholeGameByKeyboard,
    everyRenderingIsSound,
    // Last, when the other tests are over.
    itIsPaintedAtOnce,
  ];
  for (const test of all) {
    try {
      await test();
    } catch (error) {
      error.message = `${test.name}: ${error.message}`;
      throw error;
    }
    assert.deepEqual(complaints, [], test.name);
  }
  console.log(`${all.length} passed`);
} finally {
  await browser.close();
}
