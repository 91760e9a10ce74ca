// The colours of the page, as Plotly needs them: resolved for light or dark.

import { h } from "./dom.js";

export const SYMBOLS = ["circle", "triangle-up", "square", "diamond", "triangle-down", "star-diamond", "hexagon", "star"];
const probe = h("span", { hidden: true });
document.body.append(probe);

export function colour(name) {
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}

export const groupColours = () => SYMBOLS.map((_, i) => colour(`c${i}`));
export const symbolOf = (group) => SYMBOLS[(group + Math.floor(group / 8)) % 8];

// Where the colours and shapes of known labels begin, beside every view: the same label looks the same
// throughout, and different from the groups, to be taken for what it is.
export const KNOWN = 10;

// Colours come round after eight groups, then with other shapes.
export function mark(group) {
  const shape = SYMBOLS.indexOf(symbolOf(group));
  return h("span", { class: `dot g${group % 8} shape${shape}`, "aria-hidden": "true" });
}

const root = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");
const dark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";

export function themeButton(button, changed) {
  const show = () => {
    button.textContent = dark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to ${button.textContent.toLowerCase()} colours`);
  };
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    show();
    changed();
  });
  system.addEventListener("change", () => { show(); changed(); });
  show();
}
