// The features behind a view: loadings as bars, and what the groups are like.

import { fill, h, number, table } from "./dom.js";

const MOST = 60;

function bar(value, most) {
  const inner = h("span", { class: value < 0 ? "low" : "high" });
  const share = most ? (50 * Math.abs(value)) / most : 0;
  inner.style.width = `${share}%`;
  inner.style.left = value < 0 ? `${50 - share}%` : "50%";
  return h("span", { class: "loading", "aria-hidden": "true" }, inner);
}

export function loadingsPanel(found) {
  const { loadings, feature_weights } = found.description;
  if (!loadings.length) return null;
  const most = Math.max(...loadings.flat().map(Math.abs));
  const order = found.features.map((_, j) => j).sort((a, b) => feature_weights[b] - feature_weights[a]);
  const body = h("div", {});
  const words = h("output", { class: "note" });
  function show(least) {
    const kept = order.filter((j) => loadings.some((axis) => Math.abs(axis[j]) >= least));
    const rows = kept.slice(0, MOST).map((j) => h("tr", {}, h("th", { scope: "row" }, found.features[j]),
      h("td", {}, `${Math.round(100 * feature_weights[j])} %`),
      loadings.map((axis) => h("td", {}, bar(axis[j], most), number(axis[j], 2)))));
    words.textContent = `${kept.length} of ${order.length} features` + (kept.length > MOST ? `, the first ${MOST} are listed` : "");
    fill(body, table("Share of each feature in the subspace, and its loading on every axis.",
      ["feature", "share", ...loadings.map((_, i) => `axis ${i + 1}`)], rows, { class: "loadings" }));
  }
  const slider = h("input", { type: "range", min: "0", max: "1", step: "0.05", value: "0", id: "threshold",
    oninput: (event) => show(Number(event.target.value)) });
  show(0);
  return h("section", {}, h("h3", {}, "What the subspace is made of"),
    h("label", { class: "field row" }, h("span", {}, "Hide loadings below"), slider, words), body);
}

function spelled(profile) {
  if ("mean" in profile) return `${number(profile.mean)} ± ${number(profile.sd, 2)}`;
  if ("share" in profile) return `${Math.round(100 * profile.share)} % true`;
  const shares = Object.entries(profile.shares).sort((a, b) => b[1] - a[1]).filter(([, share]) => share > 0);
  return shares.slice(0, 3).map(([name, share]) => `${name} ${Math.round(100 * share)} %`).join(", ") + (shares.length > 3 ? ", …" : "");
}

export function profilePanel(found) {
  const { groups, effects } = found.description;
  if (!groups.length) return null;
  const columns = Object.keys(groups[0].profile).slice(0, MOST);
  const rows = columns.map((name) => {
    const place = found.features.indexOf(name);
    return h("tr", {}, h("th", { scope: "row" }, name), groups.map((group, i) => {
      const effect = place < 0 ? 0 : effects[i][place] ?? 0;
      const cell = h("td", { class: `shade ${effect < 0 ? "low" : ""} ${Math.abs(effect) >= 1.2 ? "strong" : ""}` }, spelled(group.profile[name]));
      cell.style.setProperty("--amount", `${Math.min(100, 50 * Math.abs(effect)).toFixed(0)}%`);
      return cell;
    }));
  });
  return h("section", {}, h("h3", {}, "What the groups are like"),
    table("Means and standard deviations, or shares, in the units of the table. Orange is higher than in all other rows, blue is lower.",
      ["column", ...found.group_names], rows));
}
