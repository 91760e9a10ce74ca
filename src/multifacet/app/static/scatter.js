// Points in WebGL: one figure for a view, one for all of them, linked by the rows that are selected.

import { colour, groupColours, symbolOf } from "./colours.js";
import { announce } from "./dom.js";
import { highlight, state } from "./state.js";

const GOLDEN = 0.618033988749895;
const MANY = 20000;
const figures = new Map(); // element -> rows of each of its traces

// Buttons by name: Plotly's own choice holds one that sends the chart to its makers.
export const CONFIG = { displaylogo: false, responsive: true, scrollZoom: false, showSendToCloud: false, plotlyServerURL: "",
  modeBarButtons: [["zoom2d", "pan2d", "select2d", "lasso2d", "resetScale2d"]] };

// Plotly reads text as HTML, be it the name of a column: whatever is handed to it goes through here.
export const literal = (text) => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

// A view of one dimension gets a lane per group.
function places(points) {
  if (points.y) return points.y;
  return points.x.map((_, i) => 0.7 * (((i * GOLDEN) % 1) - 0.5) - (points.labels?.[i] ?? 0));
}

export function trace(points, codes, names, options = {}) {
  const colours = groupColours();
  const grey = colour("rule");
  const n = points.x.length;
  const { numbers } = options;
  const look = options.colours ? (c) => options.colours[c] ?? c : (c) => (options.first ?? 0) + c;
  const hint = (i) => (numbers ? numbers[i] ?? "missing" : codes && codes[i] >= 0 ? names[codes[i]] : "");
  return {
    type: "scattergl", mode: "markers", x: points.x, y: places(points), customdata: points.rows,
    text: n <= MANY && (codes || numbers) ? points.rows.map((row, i) => literal(`row ${row}: ${hint(i)}`)) : undefined,
    hoverinfo: n <= MANY && (codes || numbers) ? "text" : "none",
    marker: {
      size: n > MANY ? 3 : n > 2000 ? 4 : n > 400 ? 6 : 7.5,
      opacity: n > MANY ? 0.5 : 0.8,
      ...(numbers ? { colorscale: "Viridis", showscale: true, colorbar: { thickness: 10, outlinewidth: 0, tickfont: { size: 11 } } } : {}),
      color: numbers ? numbers.map((value) => value ?? NaN) : codes ? codes.map((c) => (c < 0 ? grey : colours[look(c) % 8])) : colour("s2"),
      symbol: codes && !numbers && n <= MANY ? codes.map((c) => (c < 0 ? "circle" : symbolOf(look(c)))) : "circle",
      line: { width: 0 },
    },
    selected: { marker: { opacity: 1 } },
    unselected: { marker: { opacity: 0.08 } },
    selectedpoints: chosen(points.rows),
    showlegend: false,
    xaxis: options.xaxis, yaxis: options.yaxis,
  };
}

function chosen(rows) {
  if (!state.selection.size) return null;
  const found = [];
  rows.forEach((row, i) => { if (state.selection.has(row)) found.push(i); });
  return found;
}

export function axis(title, more = {}) {
  return { title: { text: literal(title), font: { size: 12 }, standoff: 8 }, gridcolor: colour("rule"), zeroline: false,
    linecolor: colour("rule"), tickfont: { size: 11 }, automargin: true, ...more };
}

// The title of a panel, above its upper left corner.
export function heading(text, x, y) {
  return { text: literal(text), x, y, xref: "paper", yref: "paper", xanchor: "left", yanchor: "bottom", showarrow: false,
    font: { size: 13, color: colour("ink") } };
}

export function layout(more) {
  return { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: colour("soft"), family: getComputedStyle(document.body).fontFamily },
    margin: { l: 48, r: 10, t: 34, b: 44 }, dragmode: "lasso", hovermode: "closest",
    modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("soft"), activecolor: colour("accent"), orientation: "h" },
    newselection: { line: { color: colour("accent"), width: 1.5, dash: "solid" } },
    showlegend: false, ...more };
}

// Draw, and let what is brushed here light up everywhere.
export async function draw(element, traces, plan) {
  const fresh = !figures.has(element);
  figures.set(element, traces.map((one) => one.customdata ?? []));
  element.style.height = `${plan.height}px`;
  await Plotly.react(element, traces, plan, CONFIG);
  if (!fresh) return;
  element.on("plotly_selected", (event) => {
    if (!event?.points) return;
    highlight(event.points.map((point) => point.customdata));
    announce(`${state.selection.size} rows are highlighted`);
  });
  element.on("plotly_deselect", () => { highlight([]); announce("Nothing is highlighted"); });
}

export function erase(element) {
  if (!figures.delete(element)) return;
  Plotly.purge(element);
}

export function showSelection() {
  for (const [element, rows] of figures) {
    if (!element.isConnected) { erase(element); continue; }
    const places = rows.map(chosen);
    Plotly.restyle(element, { selectedpoints: places });
    if (!state.selection.size && element.layout?.selections?.length) Plotly.relayout(element, { selections: [] });
  }
}
