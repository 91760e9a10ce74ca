// The page: the first screen, or an exploration, by what stands after # in the address.

import * as api from "./api.js";
import { themeButton } from "./colours.js";
import { comparePanel } from "./compare.js";
import { announce, fill, h, toast } from "./dom.js";
import { follow } from "./job.js";
import { tools } from "./keep.js";
import { agreementPanel, overview, viewList } from "./overview.js";
import { rowsPanel } from "./rows.js";
import { showSelection } from "./scatter.js";
import { setupPanel } from "./setup.js";
import { startScreen } from "./start.js";
import { emit, forget, on, state } from "./state.js";
import { viewPanel } from "./view.js";

const main = document.getElementById("content");
const title = document.getElementById("title");
const toolbar = document.getElementById("tools");

async function bench(id) {
  let exploration;
  try {
    exploration = await api.exploration(id);
    state.preview = await api.preview(id);
  } catch (error) {
    toast(error.message);
    location.hash = "";
    return;
  }
  state.exploration = exploration;
  state.chosen = exploration.views.at(-1)?.id ?? null;
  document.title = `${exploration.name} – multifacet`;
  title.textContent = exploration.name;
  const [panel, job, cards, view, all, agreement, runs, rows] = Array.from({ length: 8 }, () => h("div", {}));
  panel.className = "side";
  cards.className = "cards views";
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  fill(main, h("div", { class: "bench" }, panel, h("div", { class: "results" }, problem, job, cards, view, all, agreement, runs, rows)));
  const started = (found, words) => {
    exploration.jobs.push(found);
    state.exploration.jobs = [...state.exploration.jobs.filter((one) => one.id !== found.id), found];
    emit("exploration");
    follow(job, found, words);
    job.scrollIntoView({ block: "nearest" });
    job.firstElementChild.focus({ preventScroll: true });
    announce("The search has begun");
  };
  on("exploration", () => {
    tools(toolbar);
    problem.hidden = !state.exploration.problem;
    problem.textContent = state.exploration.problem ?? "";
  });
  on("selection", showSelection);
  on("said", announce);
  setupPanel(panel, started);
  viewList(cards);
  viewPanel(view);
  overview(all);
  agreementPanel(agreement);
  comparePanel(runs);
  rowsPanel(rows);
  tools(toolbar);
  const active = exploration.jobs.find((one) => one.status === "running" || one.status === "waiting");
  if (active) follow(job, active);
  else if (!exploration.views.length) {
    fill(job, h("section", { class: "job hint" }, h("h2", {}, "Say what you know, then search"),
      h("p", {}, "On the left are the columns as they were understood. Mark those that hold a grouping you know as “known”: the search then looks for a different one.")));
  }
}

async function route() {
  const id = decodeURIComponent(location.hash.slice(1));
  forget();
  fill(toolbar);
  title.textContent = "";
  document.title = "multifacet";
  document.querySelectorAll("dialog").forEach((one) => one.remove());
  if (id && id !== "content") await bench(id);
  else await startScreen(main, (found) => { location.hash = found; });
}

themeButton(document.getElementById("theme"), () => emit("theme"));
addEventListener("hashchange", async () => {
  if (location.hash === "#content") return;
  await route();
  main.focus({ preventScroll: true });
  announce(title.textContent ? `${title.textContent} is open` : "");
});
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
route();
