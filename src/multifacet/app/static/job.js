// A search under way: progress, the best picture so far, and a button that ends it.

import * as api from "./api.js";
import { announce, attempt, button, fill, h, toast } from "./dom.js";
import { axis, draw, erase, layout, trace } from "./scatter.js";
import { emit, state, take } from "./state.js";

const STAGES = { view: "preparing the search", select: "searching", explore: "alternating", climb: "climbing",
  solve: "solving", stability: "asking other rows", twins: "asking tables without groups", refine: "refining all views together", frontier: "what novelty costs",
  components: "separating independent components", merge: "merging dependent components", clusters: "clustering the subspaces" };
const OVER = ["done", "failed", "cancelled"];

export function follow(place, job, hint = "") {
  const heading = (name) => `Looking for ${name}${hint ? `, ${hint}` : ""}`;
  const bar = h("progress", { max: 1, "aria-label": "Progress of the search" });
  const words = h("p", { class: "note" }, "starting");
  const picture = h("div", { class: "figure sketch", hidden: true });
  const caption = h("p", { class: "note" });
  const began = Date.now() - 1000 * (job.seconds ?? 0);
  const stop = button("Cancel", () => attempt(() => api.cancel(state.exploration.id, job.id)), { id: "cancel" });
  const box = h("section", { class: "job", "aria-label": "Search under way", tabindex: "-1" }, h("div", { class: "head" }, h("h2", {}, heading(job.names[0])), stop), bar, words, picture, caption);
  fill(place, box);
  const source = new EventSource(api.eventsAddress(state.exploration.id, job.id));
  let told = "starting";
  const clock = setInterval(() => {
    if (!box.isConnected) { end(); return; }
    words.textContent = `${told} · ${Math.round((Date.now() - began) / 1000)} s`;
  }, 500);

  function end() {
    source.close();
    clearInterval(clock);
    erase(picture);
    const held = box.contains(document.activeElement);
    if (box.isConnected) fill(place);
    return held;
  }
  source.addEventListener("progress", (event) => {
    const news = JSON.parse(event.data);
    told = `${news.name}: ${STAGES[news.stage]}`;
    if (news.total && news.done <= news.total) bar.value = news.done / news.total;
    else bar.removeAttribute("value");
    box.querySelector("h2").textContent = heading(news.name);
  });
  source.addEventListener("sketch", (event) => {
    const news = JSON.parse(event.data);
    const { points } = news;
    const names = Array.from({ length: news.n_clusters }, (_, i) => `group ${i}`);
    picture.hidden = false;
    const of = points.rows.length < points.total ? ` Showing ${points.rows.length.toLocaleString("en")} of ${points.total.toLocaleString("en")} rows.` : "";
    caption.textContent = (news.admissible ? "The best so far; the search goes on." : "A first attempt; nothing new and separated yet.") + of;
    draw(picture, [trace(points, points.labels, names)], layout({ height: 300, xaxis: axis(""), yaxis: axis("", { showticklabels: Boolean(points.y) }), margin: { l: 36, r: 8, t: 8, b: 30 } }));
  });
  source.addEventListener("found", async (event) => {
    const news = JSON.parse(event.data);
    const exploration = await attempt(() => api.exploration(state.exploration.id));
    if (!exploration) return;
    state.chosen = news.view;
    take(exploration);
    emit("chosen");
    announce(`${news.name} was found: ${exploration.views.find((view) => view.id === news.view)?.sentence ?? ""}`);
  });
  source.addEventListener("error", async () => {
    told = "no answer from the server, trying again";
    if (source.readyState !== EventSource.CLOSED) return;
    end(); // a server that was started anew does not know the search
    toast("The server was started anew, and the search ended with the old one. What was found is kept.");
    const exploration = await attempt(() => api.exploration(state.exploration.id));
    if (exploration) take(exploration);
  });
  for (const kind of OVER) {
    source.addEventListener(kind, async (event) => {
      const held = end();
      const news = JSON.parse(event.data);
      if (kind === "failed") toast(`The search failed: ${news.message}`);
      if (kind === "cancelled") announce("The search was cancelled");
      (news.notes ?? []).forEach(toast);
      const exploration = await attempt(() => api.exploration(state.exploration.id));
      if (exploration) take(exploration);
      // Whoever waited here with the keyboard goes on at what was found.
      if (held) (kind === "done" ? document.getElementById("view-name") : document.getElementById("find"))?.focus({ preventScroll: true });
    });
  }
}
