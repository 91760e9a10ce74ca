// What the columns are for, and the settings of the next search.

import * as api from "./api.js";
import { attempt, button, counted, fill, h, select } from "./dom.js";
import { emit, on, state, take } from "./state.js";

const ROLES = [["feature", "feature"], ["given", "known"], ["identifier", "row name"], ["none", "left out"]];
const SCALES = [["auto", "as the table suggests"], ["true", "each has its own"], ["false", "as in the table"]];
const MANY = 100;
const KINDS = { number: "number", boolean: "true/false", category: "category", date: "date", other: "other" };

const roleOf = (setup, name) => {
  if (setup.identifier === name) return "identifier";
  if (setup.given.includes(name)) return "given";
  return setup.features.includes(name) ? "feature" : "none";
};

async function change(more) {
  const { features, given, identifier, standardize, missing } = state.exploration.setup;
  const setup = { features, given, identifier, standardize, missing, ...more };
  const found = await attempt(() => api.configure(state.exploration.id, setup));
  take(found ?? state.exploration);
}

// Columns in their order, each date before its parts.
const named = () => state.preview.columns.flatMap((column) => [column.name, ...column.parts]);

function assign(name, role) {
  const { setup } = state.exploration;
  const order = named();
  const without = (names) => names.filter((one) => one !== name);
  const withIt = (names) => order.filter((one) => one === name || names.includes(one));
  change({
    features: role === "feature" ? withIt(setup.features) : without(setup.features),
    given: role === "given" ? [...without(setup.given), name] : without(setup.given),
    identifier: role === "identifier" ? name : setup.identifier === name ? null : setup.identifier,
  });
}

// Parts of dates are features only if someone asks for them.
function partTicks(column) {
  const { features } = state.exploration.setup;
  const tick = (name) => h("label", { class: "check" }, h("input", { type: "checkbox", checked: features.includes(name), "aria-label": name,
    onchange: (event) => assign(name, event.target.checked ? "feature" : "none") }), name.slice(column.name.length + 1));
  return h("div", { class: "row ticks", role: "group", "aria-label": `Parts of ${column.name} that are features` }, column.parts.map(tick));
}

function columnRow(column) {
  const { setup } = state.exploration;
  const role = roleOf(setup, column.name);
  const why = role === "none" ? setup.left_out[column.name] ?? column.problem : null;
  const facts = [KINDS[column.kind], counted(column.values, "value")];
  if (column.missing) facts.push(`${column.missing.toLocaleString("en")} missing`);
  if (why && why !== "excluded") facts.push(why);
  return h("li", { class: `column ${role}` },
    h("div", {}, h("strong", {}, column.name), h("span", { class: column.missing ? "note warn" : "note" }, facts.join(" · ")),
      column.parts.length ? partTicks(column) : null),
    select("", ROLES, role, (value) => assign(column.name, value), { "aria-label": `Use of ${column.name}` }));
}

function dataPanel() {
  const { setup, n_rows, all_rows, n_columns } = state.exploration;
  const { columns } = state.preview;
  const list = h("ul", { class: "columns-list" });
  const filter = (text) => fill(list, columns.filter((one) => one.name.toLowerCase().includes(text.toLowerCase()))
    .slice(0, MANY).map(columnRow));
  filter("");
  const missing = columns.some((one) => one.missing && roleOf(setup, one.name) !== "none");
  const policy = [["error", "stop and say where"], ["impute", "fill in medians"], ["drop", "leave out the rows"]];
  return [
    h("p", { class: "note" }, `${counted(n_rows, "row")}${all_rows === null ? "" : ` of ${all_rows.toLocaleString("en")}`}, ${counted(n_columns, "column")}; ${counted(setup.features.length, "feature")} used.`),
    setup.notes.map((note) => h("p", { class: "note" }, note)),
    columns.length > MANY ? h("label", { class: "field" }, h("span", {}, "Find a column"),
      h("input", { type: "search", oninput: (event) => filter(event.target.value) })) : null,
    list,
    columns.length > MANY ? h("p", { class: "note" }, `At most ${MANY} columns are listed.`) : null,
    missing ? select("Missing values", policy, setup.missing, (value) => change({ missing: value })) : null,
    select("Scale of features", SCALES, String(setup.standardize),
      (value) => change({ standardize: { true: true, false: false }[value] ?? value })),
  ];
}

// Settings live outside of the drawing, so that it does not undo what someone types.
export const settings = { n_clusters: "auto", n_components: "auto", novelty_weight: "auto", n_views: "1", random_state: "0" };

function setting(name, label, hint) {
  return h("label", { class: "field" }, h("span", {}, label),
    h("input", { type: "text", inputmode: "decimal", value: settings[name], "data-setting": name, size: 6, title: hint,
      oninput: (event) => { settings[name] = event.target.value.trim(); } }));
}

export function setSetting(name, value) {
  settings[name] = String(value);
  const input = document.querySelector(`[data-setting="${name}"]`);
  if (input) {
    input.value = settings[name];
    input.closest("details").open = true;
    input.focus();
  }
}

function asked() {
  const read = (name) => {
    const text = settings[name].toLowerCase();
    if (text === "" || text === "auto") return "auto";
    const value = Number(text.replace(",", "."));
    if (!Number.isFinite(value)) throw new Error(`"${settings[name]}" is neither a number nor auto.`);
    return value;
  };
  const body = {};
  for (const name of Object.keys(settings)) {
    const value = read(name);
    if (value !== "auto") body[name] = value;
  }
  return body;
}

export function setupPanel(panel, found) {
  const data = h("details", { open: true, class: "panel" }, h("summary", {}, "The table"), h("div", { class: "inside" }));
  const known = h("p", { class: "note" });
  const narrow = matchMedia("(max-width: 60rem)");
  const avoided = h("div", {});
  const busy = () => state.exploration.jobs.some((job) => job.status === "running" || job.status === "waiting");
  const search = (hint, words) => attempt(async () => {
    if (busy()) throw new Error("A search is under way: cancel it first.");
    const job = await api.search(state.exploration.id, { ...asked(), ...hint });
    if (narrow.matches) data.open = false; // what comes is below
    found(job, words);
  });
  const find = button("Find a grouping", () => search({}, ""), { class: "primary wide", id: "find" });
  const options = h("details", { class: "panel" }, h("summary", {}, "Settings (all automatic)"),
    h("div", { class: "inside fields" },
      setting("n_clusters", "Groups", "a number, or auto"),
      setting("n_components", "Dimensions", "a number, or auto"),
      setting("novelty_weight", "Novelty weight", "what likeness to the known costs: a number, or auto"),
      setting("n_views", "Views in a row", "1 to 6"),
      setting("random_state", "Seed", "a whole number")));
  function show() {
    fill(data.lastChild, dataPanel());
    const { setup, views } = state.exploration;
    const names = [...setup.given, ...views.filter((view) => view.status === "accepted").map((view) => view.name)];
    fill(known, names.length ? `Known: ${names.join(", ")}. The search avoids ${names.length > 1 ? "them" : "it"}.`
      : "Nothing is known yet: mark a column as known, or accept a view.");
    const rejected = views.filter((view) => view.status === "rejected");
    fill(avoided, rejected.map((view) => h("p", { class: "note" }, `Rejected, so not again: ${view.name}. `,
      button("Allow again", () => attempt(async () => { take(await api.step(state.exploration.id, { do: "restore", view: view.id })); emit("chosen"); }),
        { class: "bare", "aria-label": `Allow ${view.name} again` }))));
    find.textContent = names.length || rejected.length ? "Find another grouping" : "Find a grouping";
    find.disabled = busy() || !setup.features.length;
    options.firstChild.textContent = Object.entries(settings).every(([name, value]) =>
      value === { n_views: "1", random_state: "0" }[name] || value === "auto" || value === "") ? "Settings (all automatic)" : "Settings";
  }
  options.addEventListener("input", () => { options.firstChild.textContent = "Settings"; });
  fill(panel, h("section", { class: "searching" }, h("h2", {}, "Search"), known, avoided, find, options), data);
  on("exploration", show);
  on("search", search);
  if (narrow.matches && state.exploration.views.length) data.open = false;
  show();
}
