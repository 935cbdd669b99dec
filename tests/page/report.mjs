// Reads the page of a report like a user: node report.mjs PAGE PACKAGES BROWSER [FLAGS].
//
// Two renderings are checked, with YOMIKIRI_RENDERINGS=all every one.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [page, packages, executablePath, ...args] = process.argv.slice(2);
const { chromium } = createRequire(`${packages}/`)("playwright-core");
const axe = readFileSync(`${packages}/axe-core/axe.min.js`, "utf8");
const isThorough = process.env.YOMIKIRI_RENDERINGS === "all";
const RENDERINGS = isThorough
  ? [[1280, "light"], [390, "light"], [1280, "dark"], [390, "dark"]]
  : [[1280, "light"], [390, "dark"]];
const PAPER = { light: "rgb(255, 255, 255)", dark: "rgb(22, 24, 26)" };

const browser = await chromium.launch({ executablePath, args });
for (const [width, colorScheme] of RENDERINGS) {
  const shown = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
  const wrong = [];
  shown.on("pageerror", (error) => wrong.push(error.message));
  // Whether a server runs on this machine is all that is asked; here none does.
  await shown.route("http://localhost:*/**", (route) => route.abort());
  const isServer = (address) => address.startsWith("http://localhost:");
  shown.on("console", (message) => message.type() === "error" && !isServer(message.location().url) && wrong.push(message.text()));
  shown.on("request", (sent) => !sent.url().startsWith("file:") && !isServer(sent.url()) && wrong.push(sent.url()));
  await shown.goto(`file://${page}`);
  const of = (work) => shown.evaluate(work);

  assert.equal(await of(() => getComputedStyle(document.body).backgroundColor), PAPER[colorScheme]);
  assert.match(await shown.textContent("h1"), /keeps the result in [\d.]+ of 100 positions .*chance keeps [\d.]+/);

  // The legend brings policies out by click and by key.
  const first = shown.locator(".legend button").nth(1);
  await first.click();
  assert.equal(await first.getAttribute("aria-pressed"), "true");
  const at = await first.locator("..").getAttribute("data-p");
  const faded = await of(() => document.querySelectorAll(".rank tr[data-p]:not(.on)").length);
  assert.ok(faded > 1 && (await shown.locator(`.rank tr[data-p="${at}"].on`).count()) === 1);
  await first.press("Enter");
  assert.equal(await first.getAttribute("aria-pressed"), "false");
  await first.press("Space");
  await shown.keyboard.press("Escape");
  assert.equal(await of(() => document.documentElement.classList.contains("picked")), false);

  // The arrow keys go from point to point of a plot, and the values are written.
  const plot = shown.locator(".small .chart").first();
  await plot.focus();
  const before = await shown.textContent("#tip");
  await shown.keyboard.press("ArrowRight");
  const after = await shown.textContent("#tip");
  assert.match(after, /, discs: \d+; [\d.<>]+% of/);
  assert.notEqual(before, after);

  // A heading sorts, on wide screens where headings are shown.
  if (width > 1000) {
    const head = shown.locator("table.rank thead button").nth(3);
    const best = () => shown.locator("table.rank tbody th").first().textContent();
    await head.click();
    assert.match(await best(), /perfect/);
    await head.click();
    assert.doesNotMatch(await best(), /perfect/);
  }

  // The picture that one passes on has the headline, and is drawn by the browser.
  const saved = shown.waitForEvent("download");
  await shown.click("#png");
  const png = readFileSync(await (await saved).path());
  assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [1200, 630]);
  assert.ok(png.length > 10000, `${png.length}`);
  assert.equal(await of(() => document.querySelector('meta[property="og:description"]').content), (await shown.textContent("h1")).replace("100 positions", `100 positions of ${(await shown.textContent(".over")).split(" ").at(-1)}`));
  assert.ok(await shown.locator(".explore").first().isHidden(), "no server answers");

  // Boards are drawn.
  assert.ok((await shown.locator(".shown svg.board").count()) > 3);

  // With all parts unfolded nothing scrolls sideways, and axe finds nothing.
  await of(() => document.querySelectorAll("details").forEach((part) => (part.open = true)));
  assert.ok((await of(() => document.documentElement.scrollWidth)) <= width, `${width} scrolls sideways`);
  await of(axe);
  const found = await of(async () =>
    (await window.axe.run({ resultTypes: ["violations"] })).violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html}`)),
  );
  assert.deepEqual(found, []);
  assert.deepEqual(wrong, []);
  await shown.close();
}

// Without its script everything can be read, boards among it.
const context = await browser.newContext({ javaScriptEnabled: false });
const still = await context.newPage();
await still.goto(`file://${page}`);
assert.ok((await still.locator(".shown svg.board use").count()) > 3 && (await still.locator("table.rank tr").count()) > 3);
await context.close();

// In print there are two pages: what is folded away stays so.
const printed = await browser.newPage();
await printed.goto(`file://${page}`);
const pages = (await printed.pdf({ format: "A4" })).toString("latin1").match(/\/Type\s*\/Page[^s]/g).length;
assert.ok(pages <= 2, `${pages} pages`);
await browser.close();
console.log(`${RENDERINGS.length} renderings passed`);
