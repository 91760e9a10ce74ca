// Elements from data. Text is always text: nothing here parses HTML.

// Children come as they are at hand: single, in lists of lists, or not at all.
const present = (children) => children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);

export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name in element && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...present(children));
  return element;
}

const identity = (one) => [one.tagName, one.id, one.ariaLabel, one.id || one.ariaLabel ? "" : one.textContent].join("|");

// Replace what is inside; whoever had the keyboard keeps it, if it is there again.
export function fill(element, ...children) {
  const active = document.activeElement;
  const held = active !== element && element.contains(active) ? identity(active) : null;
  element.replaceChildren(...present(children));
  if (held) [...element.querySelectorAll("button, input, select, a")].find((one) => identity(one) === held)?.focus({ preventScroll: true });
  return element;
}

export const button = (label, onclick, more = {}) =>
  h("button", { type: "button", onclick, ...more }, label);

export function select(label, options, value, onchange, more = {}) {
  const items = options.map(([key, text]) =>
    h("option", { value: String(key), selected: String(key) === String(value) }, text));
  const control = h("select", { onchange: (event) => onchange(event.target.value), ...more }, items);
  if (more["aria-label"]) return control;
  return h("label", { class: "field" }, h("span", {}, label), control);
}

// What just happened, for those who do not see it.
export function announce(text) {
  document.getElementById("live").textContent = text;
}

export function toast(text) {
  const note = h("div", { class: "toast" }, h("span", {}, text),
    button("×", () => note.remove(), { "aria-label": "Dismiss" }));
  document.getElementById("toasts").append(note);
  setTimeout(() => note.remove(), 12000);
}

// Run what a click asks for; what goes wrong is said in a sentence.
export async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    toast(error.message);
    return undefined;
  }
}

export function dialog(title, ...content) {
  const box = h("dialog", { "aria-label": title, onclose: () => box.remove() },
    h("div", { class: "head" }, h("h2", {}, title), button("Close", () => box.close())), content);
  document.body.append(box);
  box.showModal();
  return box;
}

// Ask for a name; the answer is null if there is none.
export function askName(title, value) {
  return new Promise((resolve) => {
    const input = h("input", { type: "text", value, maxlength: "80", "aria-label": title, class: "wide" });
    let answer = null;
    const form = h("form", { method: "dialog", class: "row", onsubmit: (event) => {
      event.preventDefault();
      answer = input.value.trim();
      box.close();
    } }, input, h("button", { type: "submit", class: "primary" }, "Save"));
    const box = dialog(title, form);
    box.addEventListener("close", () => resolve(answer && answer !== value ? answer : null));
    input.select();
  });
}

export function table(caption, head, rows, more = {}) {
  return h("div", { class: "table", tabindex: "0", role: "region", "aria-label": caption },
    h("table", more,
      h("caption", {}, h("span", {}, caption)),
      h("thead", {}, h("tr", {}, head.map((cell) => h("th", { scope: "col" }, cell)))),
      h("tbody", {}, rows)));
}

// Numbers as a reader wants them.
export function number(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value)) return value.toLocaleString("en");
  const size = Math.abs(value);
  if (size >= 10 ** digits) return Math.round(value).toLocaleString("en");
  if (size > 0 && size < 1e-4) return value.toExponential(1);
  return String(Number(value.toPrecision(digits)));
}

export const chance = (p) => (p === null ? "–" : p < 0.001 ? "< 0.001" : p.toFixed(3));
export const counted = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
