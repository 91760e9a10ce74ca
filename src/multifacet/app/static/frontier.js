// What novelty costs: click a point of the line to see that clustering.

import { colour } from "./colours.js";
import { announce, button, h, number } from "./dom.js";
import { CONFIG, axis, layout, literal } from "./scatter.js";
import { setSetting } from "./setup.js";
import { state } from "./state.js";

export function frontierPanel(found, redraw) {
  const { frontier } = found;
  if (!frontier) return null;
  const figure = h("div", { class: "figure small", id: "frontier", role: "img", "aria-label": "Cluster quality against likeness to what is known" });
  const search = button("Search at this weight", () => setSetting("novelty_weight", frontier.weights[state.frontier.index]), { hidden: true });
  const back = button("Back to the view", () => show(null), { hidden: true });
  const buttons = frontier.weights.map((weight, index) =>
    button(number(weight), () => show(index), { "aria-label": `Show the clustering at novelty weight ${number(weight)}`, class: "chip" }));

  function show(index) {
    state.frontier = index === null ? null : { view: found.id, index };
    buttons.forEach((one, i) => one.classList.toggle("on", i === index));
    search.hidden = back.hidden = index === null;
    drawIt();
    redraw();
    if (index !== null) announce(`Shown is the clustering at novelty weight ${number(frontier.weights[index])}`);
  }

  function drawIt() {
    if (!figure.isConnected) return;
    const at = state.frontier?.index ?? frontier.chosen;
    const names = frontier.weights.map((weight) => `weight ${number(weight)}`);
    const here = { type: "scatter", mode: "markers", x: [frontier.dependence[at]], y: [frontier.quality[at]], hoverinfo: "skip",
      marker: { size: 15, color: colour("c1"), symbol: "star" } };
    const points = { type: "scatter", mode: "lines+markers", x: frontier.dependence, y: frontier.quality, text: names.map(literal), hoverinfo: "text",
      line: { color: colour("c0"), width: 1.8 },
      marker: { size: 9, color: colour("c0") } };
    const fresh = !figure.data;
    figure.style.height = "280px";
    Plotly.react(figure, at === null ? [points] : [points, here], layout({ height: 280, dragmode: false, xaxis: axis("likeness to the known"), yaxis: axis("quality"), margin: { l: 52, r: 12, t: 10, b: 44 } }), { ...CONFIG, displayModeBar: false });
    if (fresh) figure.on("plotly_click", (event) => show(event.points[0].pointIndex));
  }
  new ResizeObserver((_, observer) => { if (figure.isConnected) { drawIt(); observer.disconnect(); } }).observe(figure);
  return h("section", {}, h("h3", {}, "What novelty costs"),
    h("p", {}, "Each point is a clustering at another novelty weight; click one to see it above. A flat line says that the view was free."),
    figure, h("div", { class: "row" }, h("span", { class: "note" }, "novelty weight"), buttons, search, back));
}
