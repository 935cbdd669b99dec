// Elements without strings of HTML: what comes from a table is only ever text.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

// An element of HTML: attributes, `on…` for what is done at an event, children.
export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

// An element of SVG, made like one of HTML.
export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// A button of a word, with a name of its own by which the focus finds it again.
export function button(text, act, attributes = {}) {
  return el("button", { type: "button", onclick: act, "data-key": `button ${text}`, ...attributes }, text);
}

// A choice among words.
export function select(label, options, chosen, act) {
  const made = el(
    "select",
    { onchange: () => act(made.value), "data-key": `select ${label}`, "aria-label": label },
    options.map(([value, text]) => el("option", { value, selected: value === chosen }, text)),
  );
  return el("label", {}, el("span", {}, label), made);
}

// The square of the board that Tab reaches.
export const HOME = '#board [tabindex="0"]';

// Puts new children into an element. The part that had the focus gets it back; if it is gone, the part that
// `data-then` around it selects does, else the board.
export function renew(element, ...children) {
  const had = element.contains(document.activeElement) ? document.activeElement : null;
  const { key } = had?.dataset ?? {};
  const next = had?.closest("[data-then]")?.dataset.then;
  element.replaceChildren(...children.flat(Infinity).filter(Boolean));
  if (!had) return;
  const again = key !== undefined && element.querySelector(`[data-key="${CSS.escape(key)}"]`);
  const parts = [again, next && document.querySelector(next), document.querySelector(HOME)];
  parts.find((part) => part && !part.disabled)?.focus({ preventScroll: true });
}

// A disc in the colour of a player, for texts.
export const stone = (side) => el("span", { class: side ? "stone white" : "stone black", "aria-hidden": "true" });

export const thousands = (number) => number.toLocaleString("en");
