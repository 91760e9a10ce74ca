// The first screen: a file, an example, or an exploration that was kept.

import * as api from "./api.js";
import { attempt, button, fill, h, toast } from "./dom.js";

export async function startScreen(main, open) {
  const status = await attempt(api.status);
  if (!status) return;
  const input = h("input", { type: "file", class: "hidden", id: "file", onchange: () => send(input.files[0]) });
  const words = h("p", { class: "note", id: "drop-words" },
    "CSV and its relatives, Parquet, Arrow, NPY, NPZ, .h5ad, or an exploration that you have saved.");
  const zone = h("div", { class: "drop" },
    h("p", { class: "lead" }, "Drop a table here"), button("Choose a file", () => input.click(), { class: "primary", "aria-describedby": "drop-words" }),
    input, words);

  async function send(file) {
    if (!file) return;
    zone.classList.add("busy");
    fill(words, `Reading ${file.name} …`);
    const found = await attempt(() => api.upload(file, status.max_upload));
    zone.classList.remove("busy");
    fill(words, found ? "" : `${file.name} was not loaded; try another file.`);
    input.value = "";
    if (found) open(found.id);
  }
  for (const kind of ["dragover", "dragleave", "drop"]) {
    zone.addEventListener(kind, (event) => {
      event.preventDefault();
      zone.classList.toggle("over", kind === "dragover");
    });
  }
  zone.addEventListener("drop", (event) => {
    if (event.dataTransfer.files.length > 1) toast("One table at a time: the first file is read.");
    send(event.dataTransfer.files[0]);
  });

  const examples = status.examples.map((one) => h("li", {},
    h("button", { type: "button", class: "card", onclick: () => attempt(async () => open((await api.begin(one.name)).id)) },
      h("strong", {}, one.name), h("span", {}, one.words))));
  const kept = status.explorations.map((one) => h("li", {},
    h("a", { href: `#${one.id}`, class: "card" }, h("strong", {}, one.id.replace(/-[0-9a-f]{6}$/, "")),
      h("span", {}, `changed ${new Date(one.changed * 1000).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" })}`))));
  fill(main, h("div", { class: "start" },
    h("h1", {}, "What else is in your table?"),
    h("p", { class: "lead" }, "Load a table, say what you know already, and look at groupings that are good and different from it. Nothing leaves this computer."),
    zone,
    h("h2", {}, "Or try an example"), h("ul", { class: "cards" }, examples),
    kept.length ? [h("h2", {}, "Open again"), h("ul", { class: "cards" }, kept)] : null));
}
