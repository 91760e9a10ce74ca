// Two runs beside each other: what was asked, what came out, and which rows went where.

import * as api from "./api.js";
import { attempt, chance, fill, h, number, table } from "./dom.js";
import { on, state } from "./state.js";

// Why features have the scale that was chosen.
const SCALES = {
  units: "each its own, as units may differ", counts: "one for all, as of counts or frequencies",
  range: "one for all, as of pixels or ratings", components: "one for all, as of principal components",
  lengths: "one for all, as of embeddings",
};
const SETTINGS = [["n_clusters", "groups"], ["n_components", "dimensions"], ["novelty_weight", "novelty weight"]];

// How many rows of each group of one labeling are in each group of the other.
export function pairTable(pair, words) {
  const rows = pair.rows.map((name, i) => {
    const total = pair.counts[i].reduce((a, b) => a + b, 0);
    return h("tr", {}, h("th", { scope: "row" }, words(0, name)), pair.counts[i].map((count) => {
      const cell = h("td", { class: `shade low ${count / total >= 0.6 ? "strong" : ""}` }, count.toLocaleString("en"));
      cell.style.setProperty("--amount", `${Math.round((100 * count) / (total || 1))}%`);
      return cell;
    }));
  });
  const p = `p = ${chance(pair.p_value)}`.replace("= <", "<");
  return table(`Rows of each group of ${pair.a} (down) in each of ${pair.b} (across): NMI ${pair.nmi.toFixed(2)}, ARI ${pair.ari.toFixed(2)}, ${p}.`,
    ["", ...pair.columns.map((name) => words(1, name))], rows);
}

function asked(run, name) {
  const value = run.chosen[name] === null ? "all" : number(run.chosen[name]);
  return run.options[name] === "auto" ? `${value} (chosen)` : value;
}

function scale(run) {
  if (run.standardize === "auto") return `${SCALES[run.scaling]} (chosen)`;
  return run.standardize ? "each its own" : "as in the table";
}

function features(run, other) {
  const more = run.features.filter((name) => !other.features.includes(name));
  return `${run.features.length}` + (more.length ? `, with ${more.slice(0, 5).join(", ")}${more.length > 5 ? ", …" : ""}` : "");
}

function runTable([first, second], names) {
  const facts = (run, other) => [
    ["known", run.given.join(", ") || "nothing"],
    ["features", features(run, other)],
    ...SETTINGS.map(([name, word]) => [word, asked(run, name)]),
    ["seed", String(run.options.random_state)],
    ["scale", scale(run)],
    ["missing values", { error: "none", impute: "filled in", drop: "rows left out" }[run.missing]],
    ["separation", number(run.separation)],
    ["stability", run.stability === null ? "–" : run.stability.toFixed(2)],
    ["chance", run.p_value === null ? "–" : `p = ${chance(run.p_value)}`.replace("= <", "<")],
    ["NMI with the known", run.novelty === null ? "–" : run.novelty.toFixed(2)],
    ["rows per group", run.sizes.map((size) => size.toLocaleString("en")).join(", ")],
  ];
  const beside = facts(second, first);
  const every = facts(first, second).map(([word, value], i) => ({ word, value, other: beside[i][1] }));
  const same = every.filter((one) => one.value === one.other).map((one) => `${one.word} ${one.value}`);
  const rows = every.filter((one) => one.value !== one.other).map((one) =>
    h("tr", {}, h("th", { scope: "row" }, one.word), h("td", {}, one.value), h("td", {}, one.other)));
  return [
    rows.length ? table("Where the two differ, in what was asked and in what came out.", ["", ...names], rows, { class: "runs" }) : null,
    same.length ? h("p", { class: "note" }, `The same in both: ${same.join("; ")}.`) : null,
  ];
}

export function comparePanel(place) {
  const chosen = [null, null];
  let turn = 0;

  async function show() {
    const mine = (turn += 1);
    const explorations = await attempt(() => api.runs(state.exploration.id));
    if (!explorations || mine !== turn) return;
    const every = explorations.flatMap((one) => one.views.map((view) => ({ key: `${one.id}/${view.id}`, name: view.name, id: view.id, exploration: one.id })));
    if (every.length < 2 || !explorations[0].views.length) { fill(place); return; }
    const keys = every.map((one) => one.key);
    if (!keys.includes(chosen[0])) chosen[0] = keys[explorations[0].views.length > 1 ? explorations[0].views.length - 2 : 0];
    if (!keys.includes(chosen[1]) || chosen[1] === chosen[0]) chosen[1] = keys.find((key, i) => i > keys.indexOf(chosen[0])) ?? keys[0];
    const answer = h("div", { id: "runs", "aria-live": "polite" });
    const chooser = (which, label) => {
      const control = h("select", { "aria-label": which ? "Second run" : "First run", onchange: (event) => { chosen[which] = event.target.value; fill(answer); compare(answer, every); } },
        explorations.filter((one) => one.views.length).map((one, i) => h("optgroup", { label: i ? `${one.name} (${one.id})` : "this exploration" },
          one.views.map((view) => h("option", { value: `${one.id}/${view.id}`, selected: `${one.id}/${view.id}` === chosen[which] }, view.name)))));
      return h("label", { class: "field" }, h("span", {}, label), control);
    };
    fill(place, h("section", { "aria-label": "Compare two runs" }, h("h2", {}, "Compare two runs"),
      h("div", { class: "row" }, chooser(0, "Run"), chooser(1, "with")), answer));
    await compare(answer, every);
  }

  async function compare(answer, every) {
    const [one, other] = chosen.map((key) => every.find((run) => run.key === key));
    if (one === other) { fill(answer, h("p", { class: "note" }, "Choose two different runs.")); return; }
    const found = await attempt(() => api.compare(one, other));
    if (!found || !answer.isConnected) return;
    const names = [one.name, other.exploration === one.exploration ? other.name : `${other.name} of ${other.exploration}`];
    fill(answer, runTable(found.runs, names),
      pairTable({ ...found.agreement, a: names[0], b: names[1] }, (which, value) => found.runs[which].group_names[value] ?? value));
  }
  on("exploration", show);
  show();
}
