// One view: its points beside what is known, and everything that is known about it.

import * as api from "./api.js";
import { KNOWN, mark } from "./colours.js";
import { askName, attempt, button, chance, counted, fill, h, number, select, table } from "./dom.js";
import { frontierPanel } from "./frontier.js";
import { galleryPanel } from "./gallery.js";
import { imagesPanel } from "./images.js";
import { contrastsPanel } from "./ridges.js";
import { loadingsPanel, profilePanel } from "./features.js";
import { axis, draw, heading, layout, trace } from "./scatter.js";
import { colourings, columnOf, detail, emit, highlight, on, state, take } from "./state.js";

export async function act(step, words) {
  const found = await attempt(() => api.step(state.exploration.id, step));
  if (found) { take(found); emit("chosen"); emit("said", words); }
}

function facts(view) {
  const said = [["separation", number(view.separation), view.verdicts.separation]];
  if (view.verdict) said.unshift(["verdict", view.verdict, view.verdicts.verdict]);
  if (view.stability !== null) said.push(["stability", view.stability.toFixed(2), view.verdicts.stability]);
  if (view.p_value !== null) said.push(["chance", `p = ${chance(view.p_value)}`.replace("= <", "<"), view.verdicts.p_value]);
  if (view.novelty !== null) said.push(["NMI with the known", view.novelty.toFixed(2), view.verdicts.novelty]);
  return h("dl", { class: "facts" }, said.map(([name, value, remark]) =>
    h("div", {}, h("dt", {}, name), h("dd", {}, value, h("span", {}, remark)))));
}

function actions(view) {
  const on_status = (status) => view.status === status;
  const rename = async () => {
    const name = await askName("Name of this view", view.name);
    if (name) act({ do: "rename", view: view.id, group: null, name }, `renamed to ${name}`);
  };
  return h("div", { class: "actions", role: "group", "aria-label": `What to do with ${view.name}` },
    on_status("accepted")
      ? button("✓ Accepted", () => act({ do: "restore", view: view.id }, "no longer accepted"), { class: "on", id: "accept", title: "Click to take it back", "aria-pressed": "true" })
      : button("Accept", () => act({ do: "accept", view: view.id }, "accepted: the next search avoids it"), { class: "primary", id: "accept", title: "The next search is given it too" }),
    on_status("rejected")
      ? button("Allow again", () => act({ do: "restore", view: view.id }, "allowed again"), { id: "reject", title: "The next search may return it" })
      : button("Reject", () => act({ do: "reject", view: view.id }, "rejected: the next search does not return it"), { id: "reject", title: "Not this again: the next search avoids it" }),
    button("Rename", rename));
}

// Groups that are ticked, by view and sizes: a redraw must not take them back.
const ticked = new Map();

function tickedIn(found) {
  const key = `${found.id}:${found.sizes.join()}`;
  const chosen = ticked.get(key) ?? new Set();
  ticked.clear();
  ticked.set(key, chosen);
  return chosen;
}

function groups(found) {
  const chosen = tickedIn(found);
  const merge = button("Merge", () => act({ do: "merge", view: found.id, groups: [...chosen] }, "merged"), { disabled: true, id: "merge" });
  const rowsOf = (wanted) => found.points.rows.filter((_, i) => wanted.has(found.points.labels[i]));
  const inside = button("Look among them", () => emit("search", { rows: rowsOf(chosen) }, "only among the rows of these groups"), { disabled: true, id: "inside" });
  const together = button("Keep together", () => emit("search", { together: { view: found.id, groups: [...chosen] } }, "with these groups kept together"), { disabled: true, id: "together", title: "Find another: views that tell these groups apart are passed over" });
  const described = found.description.groups;
  const most = Math.max(...found.sizes);
  const update = () => {
    merge.disabled = chosen.size < 2 || chosen.size === found.n_clusters;
    together.disabled = chosen.size < 2;
    inside.disabled = !chosen.size || chosen.size === found.n_clusters || found.points.rows.length < found.points.total;
  };
  update();
  const rows = found.sizes.map((size, group) => {
    const name = found.group_names[group];
    const rename = async () => {
      const wanted = await askName(`Name of ${name}`, name);
      if (wanted) act({ do: "rename", view: found.id, group, name: wanted }, `renamed to ${wanted}`);
    };
    const bar = h("span", { class: "size" });
    bar.style.width = `${(4 * size) / most}rem`;
    const light = () => highlight(found.points.rows.filter((_, i) => found.points.labels[i] === group));
    const tick = h("input", { type: "checkbox", "aria-label": `Choose ${name}`,
      onchange: (event) => { event.target.checked ? chosen.add(group) : chosen.delete(group); update(); } });
    tick.checked = chosen.has(group);
    return h("tr", {},
      h("th", { scope: "row" }, h("label", { class: "check" }, tick,
      mark(found.colours[group]), h("span", {}, name))),
      h("td", {}, bar, size.toLocaleString("en")),
      h("td", { class: "words" }, described[group]?.name ?? ""),
      h("td", {}, button("Highlight", light, { "aria-label": `Highlight ${name}` }), " ", button("Rename", rename, { "aria-label": `Rename ${name}` })));
  });
  return h("section", {}, h("h3", {}, "Groups"),
    table("The groups, their sizes, and how they differ from all other rows.", ["group", "rows", "what it is", ""], rows),
    h("p", { class: "row" }, merge, together, inside, h("span", { class: "note" }, "Tick groups that belong together: merge them, or look for another view that keeps them so. Look among those that belong apart for what sets them so.")));
}

function legend(names, colours) {
  return h("ul", { class: "legend" }, names.slice(0, 24).map((name, i) => h("li", {}, mark(colours(i)), name)),
    names.length > 24 ? h("li", {}, `and ${names.length - 24} more`) : null);
}

// The left panel shows the groups, the right one the same points in the colours of a column.
function picture(found, figure, legends, beside) {
  const wide = figure.clientWidth > 640;
  const shown = state.frontier?.view === found.id ? state.frontier : null;
  let codes = found.points.labels;
  if (shown) {
    const labels = new Map(found.frontier.rows.map((row, i) => [row, found.frontier.labels[shown.index][i]]));
    codes = found.points.rows.map((row) => labels.get(row) ?? -1);
  }
  const lanes = { showticklabels: false, title: { text: "" } };
  const left = axis(found.axes[0]);
  const up = found.points.y ? axis(found.axes[1]) : axis("", lanes);
  const traces = [trace(found.points, codes, found.group_names, shown ? {} : { colours: found.colours })];
  const plan = layout({ height: wide || !beside ? 400 : 720, annotations: [heading(shown ? `at novelty weight ${number(found.frontier.weights[shown.index])}` : found.name, 0, 1)], xaxis: left, yaxis: up });
  if (beside) {
    traces.push(trace(found.points, beside.codes, beside.names, { first: KNOWN, xaxis: "x2", yaxis: "y2", numbers: beside.numbers }));
    if (wide) {
      Object.assign(plan, { xaxis: { ...left, domain: [0, 0.48] }, xaxis2: { ...axis(found.axes[0]), domain: [0.52, 1], matches: "x", anchor: "y2" },
        yaxis2: { ...up, matches: "y", anchor: "x2", showticklabels: false, title: { text: "" } } });
      plan.annotations.push(heading(`by ${beside.name}`, 0.52, 1));
    } else {
      Object.assign(plan, { yaxis: { ...up, domain: [0.56, 1] }, xaxis2: { ...axis(found.axes[0]), matches: "x", anchor: "y2" },
        yaxis2: { ...up, domain: [0, 0.42], matches: "y", anchor: "x2" } });
      plan.annotations.push(heading(`by ${beside.name}`, 0, 0.42));
    }
  }
  plan.uirevision = found.id;
  fill(legends, legend(found.group_names, (i) => found.colours[i]), beside ? legend(beside.names, (i) => KNOWN + i) : null);
  return draw(figure, traces, plan);
}

// What the next search should do otherwise than the one that found this view.
function hints(found) {
  const search = (more, words) => emit("search", more, words);
  const brushed = button("Only among these rows", () => search({ rows: [...state.selection] }, "only among the highlighted rows"), { id: "among" });
  const wanted = new Set();
  const matter = button("Only these features", () => search({ features: [...wanted] }, `only by ${[...wanted].join(", ")}`), { id: "only-features", disabled: true });
  const tick = (name) => h("label", { class: "check" }, h("input", { type: "checkbox", "aria-label": `${name} matters`,
    onchange: (event) => { event.target.checked ? wanted.add(name) : wanted.delete(name); matter.disabled = !wanted.size; } }), name);
  const features = h("div", { class: "row ticks", role: "group", "aria-label": "Features that matter" }, state.exploration.setup.features.map(tick));
  const chosen = () => { brushed.disabled = state.selection.size < 5; brushed.textContent = state.selection.size ? `Only among ${counted(state.selection.size, "row")}` : "Only among highlighted rows"; };
  selectionChanged = chosen;
  chosen();
  return h("details", { class: "panel", id: "hints" }, h("summary", {}, "Find another, with a hint"),
    h("div", { class: "inside" }, h("div", { class: "row" },
      button("Fewer groups", () => search({ n_clusters: found.n_clusters - 1 }, `${found.n_clusters - 1} groups`), { id: "fewer", disabled: found.n_clusters < 3 }),
      button("More groups", () => search({ n_clusters: found.n_clusters + 1 }, `${found.n_clusters + 1} groups`), { id: "more" }), brushed),
    h("p", { class: "note" }, "Or tick the features that matter:"), features, matter));
}
let selectionChanged = () => {};

export function viewPanel(place) {
  on("selection", () => selectionChanged());
  const figure = h("div", { class: "figure", id: "view-figure", role: "img" });
  const legends = h("div", { class: "legends" });
  const head = h("div", {});
  const tools = h("div", { class: "row" });
  const body = h("div", {});
  const box = h("section", { class: "view", "aria-label": "The view" }, head, tools, figure, legends, body);
  let chosen = null; // the column beside it; what is known first, if nobody chooses
  let current = null;

  async function redraw() {
    if (!current || !figure.isConnected) return;
    const found = current;
    const name = chosen ?? found.known[0]?.name;
    const beside = name === undefined || name === "" ? null : await attempt(() => columnOf(found, name));
    if (found === current) await picture(found, figure, legends, beside);
  }

  async function show() {
    if (!state.chosen) { fill(place); current = null; return; }
    const wanted = state.chosen;
    const found = await attempt(() => detail(wanted));
    if (!found || wanted !== state.chosen) return;
    current = found;
    if (!box.isConnected) fill(place, box);
    const columns = [...new Set([...found.known.map((one) => one.name), ...colourings()])];
    if (chosen && !columns.includes(chosen)) chosen = null;
    if (state.frontier?.view !== found.id) state.frontier = null;
    const { points } = found;
    figure.setAttribute("aria-label", `${found.name}: ${counted(points.rows.length, "point")} in ${counted(found.n_clusters, "group")}. ${found.sentence}`);
    fill(head, h("div", { class: "head" }, h("h2", { id: "view-name", tabindex: "-1" }, found.name), actions(found)),
      h("p", { class: "lead" }, found.sentence), h("p", {}, found.description.evidence),
      found.beside ? h("p", { id: "beside" }, `Beside your columns: ${found.beside}.`) : null, facts(found));
    fill(tools,
      select("Beside it", [["", "nothing"], ...columns.map((one) => [one, one])], chosen ?? found.known[0]?.name ?? "",
        (value) => { chosen = value; redraw(); }),
      h("span", { class: "note" }, points.rows.length < points.total ? `Showing ${points.rows.length.toLocaleString("en")} of ${points.total.toLocaleString("en")} rows. ` : "",
        "Draw around points to highlight their rows everywhere."));
    await redraw();
    fill(body, hints(found), groups(found), galleryPanel(found), contrastsPanel(found), loadingsPanel(found), profilePanel(found), frontierPanel(found, redraw), imagesPanel(found));
  }
  on("chosen", show);
  on("theme", redraw);
  let width = 0;
  new ResizeObserver(() => {
    const wide = figure.clientWidth > 640;
    if (width !== wide) { width = wide; redraw(); }
  }).observe(figure);
  show();
}
