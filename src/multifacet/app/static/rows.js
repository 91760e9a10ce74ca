// The rows of the table, with their groups; what is highlighted comes first.

import * as api from "./api.js";
import { attempt, button, counted, fill, h, number } from "./dom.js";
import { highlight, on, state } from "./state.js";

const PAGE = 25;
const MOST = 500;

export function rowsPanel(place) {
  let start = 0;
  let last = 0;

  async function show() {
    const turn = (last += 1);
    const { id, n_rows } = state.exploration;
    const chosen = [...state.selection].sort((a, b) => a - b);
    const part = chosen.slice(start, Math.min(start + PAGE, MOST));
    const page = await attempt(() => (chosen.length ? api.chosenRows(id, part) : api.rows(id, start, PAGE)));
    if (!page || turn !== last) return;
    const total = chosen.length ? Math.min(chosen.length, MOST) : n_rows;
    const toggle = (row) => {
      const rows = new Set(state.selection);
      rows.has(row) ? rows.delete(row) : rows.add(row);
      highlight(rows);
    };
    const body = page.rows.map((row, i) => h("tr", { class: state.selection.has(row) ? "chosen" : "" },
      h("th", { scope: "row" }, h("label", { class: "check" }, h("input", { type: "checkbox", checked: state.selection.has(row), onchange: () => toggle(row), "aria-label": `Highlight row ${row}` }), String(row))),
      page.cells[i].slice(0, 60).map((cell) => h("td", {}, typeof cell === "number" ? number(cell, 5) : cell === null ? "–" : String(cell)))));
    const words = chosen.length ? `${counted(chosen.length, "row")} of ${n_rows.toLocaleString("en")} highlighted` : counted(n_rows, "row");
    const turned = (by) => () => { start = Math.max(0, start + by); show(); };
    fill(place, h("section", { "aria-label": "Rows", id: "rows" }, h("div", { class: "head" }, h("h2", {}, "Rows"),
      h("div", { class: "row" }, h("span", { class: "note", id: "row-count" }, words),
        chosen.length ? button("Clear", () => highlight([]), { id: "clear" }) : null,
        button("‹", turned(-PAGE), { disabled: start === 0, "aria-label": "Rows before" }),
        h("span", { class: "note" }, total ? `${start + 1}–${Math.min(start + PAGE, total)}` : "none"),
        button("›", turned(PAGE), { disabled: start + PAGE >= total, "aria-label": "Rows after" }))),
    h("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Rows of the table" },
      h("table", { class: "plain", "aria-label": "Rows and their groups" }, h("thead", {}, h("tr", {}, ["row", ...page.columns.slice(0, 60)].map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, body)))));
  }
  on("selection", () => { start = 0; show(); });
  on("exploration", show);
  show();
}
