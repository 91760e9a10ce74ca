// What tells the groups apart: how the features that the sentence names are distributed in each.

import { h, number } from "./dom.js";

const [WIDTH, LEFT, RIGHT, TOP, ROW, BOTTOM] = [460, 86, 12, 8, 44, 44];
const REACH = 0.86;
const MOST = 8;

function svg(tag, properties, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(properties)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function ticks(low, high) {
  const rough = (high - low) / 5;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * unit).find((one) => one >= rough);
  const found = [];
  for (let i = Math.ceil(low / step); i * step <= high; i += 1) found.push(i * step);
  return found;
}

// One hill per group, each as high as its share of rows, and a dashed line at its mean.
function ridges({ low, high, counts, means }, { group_names: names, colours }, axis, words) {
  const span = high - low || 1;
  const across = (value) => LEFT + Math.min(Math.max((value - low) / span, 0), 1) * (WIDTH - LEFT - RIGHT);
  const ground = TOP + ROW * counts.length;
  const parts = ticks(low, low + span).flatMap((value) => [
    svg("path", { class: "grid", d: `M${across(value)} ${TOP}V${ground}` }),
    svg("text", { x: across(value), y: ground + 17, "text-anchor": "middle" }, number(value, 4))]);
  parts.push(svg("text", { class: "name", x: (LEFT + WIDTH - RIGHT) / 2, y: ground + 37, "text-anchor": "middle" }, axis));
  const shares = counts.map((row) => { const all = row.reduce((a, b) => a + b, 0) || 1; return row.map((one) => one / all); });
  const most = Math.max(...shares.flat()) || 1;
  shares.forEach((row, group) => {
    const floor = TOP + ROW * (group + 1);
    const step = (WIDTH - LEFT - RIGHT) / row.length;
    const steps = row.map((one, i) => `V${floor - (REACH * ROW * one) / most}H${LEFT + step * (i + 1)}`).join("");
    parts.push(svg("path", { class: `hill c${colours[group] % 8}`, d: `M${LEFT} ${floor}${steps}V${floor}z` }, svg("title", {}, `${names[group]}: mean ${number(means[group], 4)}`)),
      svg("path", { class: "mean", d: `M${across(means[group])} ${floor}v-${REACH * ROW}` }),
      svg("text", { x: LEFT - 8, y: floor - 4, "text-anchor": "end" }, names[group].length > 11 ? `${names[group].slice(0, 10)}…` : names[group]));
  });
  return svg("svg", { class: "plot", viewBox: `0 0 ${WIDTH} ${ground + BOTTOM}`, role: "img", "aria-label": words }, ...parts);
}

export function contrastsPanel(found) {
  const { contrasts, told } = found.description;
  if (!contrasts?.length) return null;
  const figures = contrasts.map((one) => {
    const axis = one.given === null ? one.feature : `${one.feature}, at equal ${one.given}`;
    const what = one.given === null ? one.feature : `${one.feature} as it would be if all rows had the mean ${one.given}`;
    const means = one.means.map((mean, group) => `${found.group_names[group]} ${number(mean, 4)}`).slice(0, MOST).join("; ");
    const shown = { ...one, counts: one.counts.slice(0, MOST), means: one.means.slice(0, MOST) };
    return h("figure", {}, ridges(shown, found, axis, `${what} in each group. Means: ${means}.`),
      h("figcaption", {}, `${what}: share of the rows of each group, its mean dashed.`,
        one.counts.length > MOST ? ` The first ${MOST} groups are shown.` : ""));
  });
  return h("section", { id: "contrasts" }, h("h3", {}, "What tells them apart"),
    h("p", {}, `Without any other feature, this puts ${Math.round(100 * told)} % of the rows into their group.`),
    h("div", { class: "columns" }, figures));
}
