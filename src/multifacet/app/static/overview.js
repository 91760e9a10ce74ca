// All views beside each other, and how far all labelings agree.

import * as api from "./api.js";
import { KNOWN, mark } from "./colours.js";
import { pairTable } from "./compare.js";
import { attempt, button, fill, h, select, table } from "./dom.js";
import { axis, draw, erase, heading, layout, trace } from "./scatter.js";
import { colourings, columnOf, detail, emit, on, shownViews, state } from "./state.js";

const MOST = 9;

export function viewList(place) {
  function show() {
    const { views } = state.exploration;
    fill(place, views.map((view) => h("button", { type: "button", class: `card view-card ${view.status}`, "aria-pressed": String(view.id === state.chosen),
      onclick: () => { state.chosen = view.id; emit("chosen"); } },
    h("strong", {}, view.name, view.status === "new" ? null : h("em", {}, view.status)),
    h("span", {}, `${view.n_clusters} groups`, view.given.length ? `, beside ${view.given.join(", ")}` : "",
      view.avoided.length ? `, not ${view.avoided.join(", ")} again` : "", view.among === null ? "" : `, among ${view.among.toLocaleString("en")} rows`),
    h("span", { class: "sizes" }, view.sizes.slice(0, 8).map((size, i) => h("span", {}, mark(view.colours[i]), size.toLocaleString("en")))))));
    place.hidden = !views.length;
  }
  on("exploration", show);
  on("chosen", show);
  show();
}

// How the points of a view are coloured: by its own groups, by those of another one, or by a column.
async function codesOf(found, all, colouring) {
  if (colouring === "own") return { codes: found.points.labels, names: found.group_names, colours: found.colours };
  const other = all.find((one) => one.name === colouring);
  if (other) {
    const labels = new Map(other.points.rows.map((row, i) => [row, other.points.labels[i]]));
    return { codes: found.points.rows.map((row) => labels.get(row) ?? -1), names: other.group_names, colours: other.colours };
  }
  return { ...await columnOf(found, colouring), first: KNOWN };
}

export function overview(place) {
  const figure = h("div", { class: "figure", id: "overview-figure", role: "img", "aria-label": "All views beside each other" });
  const chooser = h("div", { class: "row" });
  const box = h("section", { "aria-label": "All views" }, h("h2", {}, "All views"), chooser, figure);

  async function show() {
    const views = shownViews().slice(0, MOST);
    if (views.length < 2) { erase(figure); fill(place); return; }
    const found = await attempt(() => Promise.all(views.map((view) => detail(view.id))));
    if (!found) return;
    if (!box.isConnected) fill(place, box);
    const names = [...new Set([...found.map((one) => one.name), ...colourings()])];
    if (!names.includes(state.colouring)) state.colouring = "own";
    fill(chooser, select("Colour by", [["own", "own groups of each"], ...names.map((name) => [name, name])], state.colouring,
      (value) => { state.colouring = value; show(); }),
    h("span", { class: "note" }, "Draw around points in one view to see where their rows are in the others."));
    const across = Math.max(1, Math.min(found.length, Math.floor(figure.clientWidth / 300) || 1));
    const down = Math.ceil(found.length / across);
    const plan = layout({ height: 40 + 290 * down, annotations: [] });
    const coloured = await attempt(() => Promise.all(found.map((one) => codesOf(one, found, state.colouring))));
    if (!coloured) return;
    const traces = found.map((one, i) => {
      const [column, row] = [i % across, Math.floor(i / across)];
      const n = i ? String(i + 1) : "";
      const gap = { x: 0.06, y: 60 / (290 * down) };
      const left = column / across + (column ? gap.x / 2 : 0);
      const right = (column + 1) / across - (column < across - 1 ? gap.x / 2 : 0);
      const top = 1 - row / down - (row ? gap.y / 2 : 0);
      const bottom = 1 - (row + 1) / down + (row < down - 1 ? gap.y / 2 : 0);
      plan[`xaxis${n}`] = { ...axis(""), domain: [left, right], anchor: `y${n}`, showticklabels: false };
      plan[`yaxis${n}`] = { ...axis(""), domain: [bottom, top], anchor: `x${n}`, showticklabels: false };
      plan.annotations.push(heading(one.name, left, top));
      const { codes, names: words, first, colours, numbers } = coloured[i];
      const panel = trace(one.points, codes, words, { first, colours, numbers, xaxis: `x${n}`, yaxis: `y${n}` });
      if (i) panel.marker.showscale = false; // all panels have the colours of one column
      return panel;
    });
    plan.margin = { l: 10, r: 10, t: 30, b: 10 };
    erase(figure); // the number of panels may have changed
    await draw(figure, traces, plan);
  }
  on("exploration", show);
  on("theme", show);
  show();
}

// Groups of views by their names; labels of the table as they are.
const wordsOf = (pair) => (which, value) =>
  state.exploration.views.find((view) => view.name === [pair.a, pair.b][which])?.group_names[value] ?? value;

export function agreementPanel(place) {
  let shown = null;
  async function show() {
    const found = await attempt(() => api.agreement(state.exploration.id));
    if (!found) { fill(place); return; }
    const names = found.labelings.map((one) => one.name);
    const inside = h("div", { id: "pair" });
    const pairOf = (a, b) => found.pairs.find((pair) => (pair.a === a && pair.b === b) || (pair.a === b && pair.b === a));
    const open = (pair) => { shown = [pair.a, pair.b]; fill(inside, pairTable(pair, wordsOf(pair))); };
    const rows = names.map((a, i) => h("tr", {}, h("th", { scope: "row" }, a), names.map((b, j) => {
      const value = found.nmi[i][j];
      const pair = i === j ? null : pairOf(a, b);
      const cell = h("td", { class: `shade ${value >= 0.6 ? "strong" : ""}` },
        pair ? button(value.toFixed(2), () => open(pair), { class: "bare", "aria-label": `Compare ${a} with ${b}: NMI ${value.toFixed(2)}` }) : value.toFixed(2));
      cell.style.setProperty("--amount", `${Math.round(100 * value)}%`);
      return cell;
    })));
    fill(place, h("section", { "aria-label": "Agreement" }, h("h2", {}, "How far they agree"), h("p", {}, found.sentence),
      table("Normalised mutual information: 0 is nothing in common, 1 is the same grouping. Choose a pair to compare it row by row.", ["", ...names], rows), inside));
    const again = shown && pairOf(...shown);
    if (again) open(again);
  }
  on("exploration", show);
  show();
}
