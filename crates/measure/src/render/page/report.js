const root = document.documentElement;
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
root.classList.add("live");

function button(attributes, children) {
  const made = document.createElement("button");
  Object.assign(made, { type: "button", ...attributes });
  made.append(...children);
  return made;
}

// Policies chosen in the legend are brought out everywhere.
const picked = new Set();
function show() {
  root.classList.toggle("picked", picked.size > 0);
  for (const one of all("[data-p]")) one.classList.toggle("on", picked.has(one.dataset.p));
  for (const one of all(".legend button")) one.ariaPressed = picked.has(one.parentNode.dataset.p);
}
for (const item of all(".legend li")) {
  const made = button({ ariaPressed: "false" }, item.childNodes);
  made.onclick = () => {
    if (!picked.delete(item.dataset.p)) picked.add(item.dataset.p);
    show();
  };
  item.append(made);
}
addEventListener("keydown", ({ key }) => {
  if (key !== "Escape") return;
  picked.clear();
  tell(null);
  show();
});

// Values are shown on hover and on focus; in a plot the arrow keys go from point to point.
const tip = document.getElementById("tip");
let lit = null;
function tell(one) {
  lit?.classList.remove("lit");
  lit = one;
  tip.hidden = !one;
  if (!one) return;
  if (one.tagName === "circle") one.classList.add("lit");
  const name = one.closest(".series")?.dataset.n;
  tip.textContent = (name ? `${name}, ` : "") + one.dataset.t;
  const at = one.getBoundingClientRect();
  tip.style.top = `${Math.max(4, at.top - tip.offsetHeight - 8)}px`;
  tip.style.left = `${Math.max(4, Math.min(innerWidth - tip.offsetWidth - 4, at.left - tip.offsetWidth / 2))}px`;
}
const seen = (point) => !root.classList.contains("picked") || point.closest(".on");
addEventListener("pointermove", (event) => {
  const chart = event.target.closest?.(".chart");
  if (!chart) return tell(event.target.closest?.("[data-t]") ?? null);
  const away = (point) => {
    const { left, top, width } = point.getBoundingClientRect();
    return Math.hypot(left + width / 2 - event.clientX, top + width / 2 - event.clientY);
  };
  const near = all("circle", chart).filter(seen).map((point) => [away(point), point]).sort(([a], [b]) => a - b)[0];
  tell(near && near[0] < 30 ? near[1] : null);
});
for (const chart of all(".chart")) {
  const lines = () => all(".series", chart).map((line) => all("circle", line).filter(seen)).filter((points) => points.length);
  chart.onkeydown = (event) => {
    const [along, across] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key] ?? [];
    const found = lines();
    if (along === undefined || !found.length) return;
    event.preventDefault();
    const line = Math.max(0, found.findIndex((points) => points.includes(lit)));
    const points = found[(line + across + found.length) % found.length];
    const at = Math.max(0, found[line].indexOf(lit)) + along;
    tell(points[Math.min((at + points.length) % points.length, points.length - 1)]);
  };
  chart.onfocus = () => tell(all(".series.own circle", chart).filter(seen)[0] ?? lines()[0]?.[0] ?? null);
  chart.onblur = () => tell(null);
}

// Sorts a table by the column whose heading is pressed; again, the other way.
for (const table of all("table.sort")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, at) => {
    if (!head.textContent || head.matches(".bars")) return;
    const made = button({}, head.childNodes);
    head.append(made);
    made.onclick = () => {
      // Names and places ascend at first.
      const isName = at === 0 || head.cellIndex === 1 && table.matches(".rank");
      const down = isName ? head.ariaSort === "ascending" : head.ariaSort !== "descending";
      for (const other of heads) other.ariaSort = null;
      head.ariaSort = down ? "descending" : "ascending";
      const of = (row) => {
        const cell = row.cells[at].cloneNode(true);
        cell.querySelector("small")?.remove();
        const text = cell.textContent.trim();
        const number = parseFloat(text.replace(/[,<>]/g, "").replace("−", "-"));
        return cell.tagName === "TD" && !isNaN(number) ? number : text;
      };
      const rows = [...table.tBodies[0].rows];
      const isMissing = (value) => value === "" || value === "–";
      rows.sort((a, b) => {
        const [x, y] = [of(a), of(b)];
        // Missing figures come last both ways.
        if (isMissing(x) || isMissing(y)) return isMissing(x) - isMissing(y);
        const less = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
        return down ? -less : less;
      });
      table.tBodies[0].append(...rows);
    };
  });
}

// Links into the server are shown if it answers.
const { server } = document.getElementById("tip").dataset;
if (server && all(".explore").length) fetch(server, { mode: "no-cors" }).then(() => root.classList.add("served"), () => {});

// The picture of the headline, with the pieces of the page's boards.
const picture = document.getElementById("picture");
if (picture) {
  const source = () => picture.textContent.replace("<!--pieces-->", document.querySelector("svg[display=none]")?.outerHTML ?? "");
  const drawn = async () => {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(source())}`;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: 1200, height: 630 });
    canvas.getContext("2d").drawImage(image, 0, 0);
    return new Promise((done) => canvas.toBlob(done, "image/png"));
  };
  const save = (blob, ending) => {
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: `report.${ending}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const act = (name, work) => {
    const made = document.getElementById(name);
    const text = made.textContent;
    made.onclick = async () => {
      made.textContent = (await work()) ?? text;
      setTimeout(() => (made.textContent = text), 2000);
    };
  };
  act("svg", async () => save(new Blob([source()], { type: "image/svg+xml" }), "svg"));
  act("png", async () => save(await drawn(), "png"));
  act("copy", async () => {
    try {
      await navigator.clipboard.write([new ClipboardItem({ "image/png": drawn() })]);
      return "Copied";
    } catch {
      save(await drawn(), "png");
      return "Saved: the browser does not copy pictures";
    }
  });
}
