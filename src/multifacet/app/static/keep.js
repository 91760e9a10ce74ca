// What can be taken along: files, and code that does the same again.

import * as api from "./api.js";
import { attempt, button, dialog, fill, h, toast } from "./dom.js";
import { emit, state, take } from "./state.js";

const FILES = [
  ["labels.csv", "Labels as CSV", "every row of the table with its groups"],
  ["labels.parquet", "Labels as Parquet", "the same, with types"],
  ["report.html", "Report", "one page to read and to pass on"],
  ["exploration.zip", "Exploration", "everything, to be opened here again"],
  ["repeat.zip", "To repeat it", "the table, a script, and run.json files for the command line"],
];

function files() {
  const { all_rows } = state.exploration;
  if (all_rows === null) return FILES;
  const [csv, parquet, ...others] = FILES;
  const sample = ([kind, name]) => [kind, `${name}, of the sample`, "the rows that are shown, with their groups"];
  const every = ["all-labels.zip", "Labels of all rows", `Parquet in parts; ${all_rows.toLocaleString("en")} rows are read for it`];
  return [every, sample(csv), sample(parquet), ...others];
}

function keep() {
  const { id } = state.exploration;
  dialog("Keep", h("ul", { class: "cards one" }, files().map(([kind, name, words]) =>
    h("li", {}, h("a", { class: "card", href: api.fileAddress(id, kind), download: "" }, h("strong", {}, name), h("span", {}, words))))));
}

const code = () => attempt(async () => {
  const found = await api.code(state.exploration.id);
  const block = (text) => h("pre", { tabindex: "0" }, h("code", {}, text));
  const copy = button("Copy", async () => {
    await navigator.clipboard.writeText(found.python).then(() => { copy.textContent = "Copied"; }, () => toast("The browser does not allow copying here."));
  });
  dialog("The same without this page", h("h3", {}, "In Python"), copy, block(found.python),
    h("h3", {}, "On the command line"), h("p", {}, "With the files of “To repeat it” unpacked in the current directory:"), block(found.shell));
});

const STEPS = { find: "the search", accept: "accepting the view", reject: "rejecting the view", restore: "taking the view back",
  rename: "the new name", merge: "merging the groups" };

const undo = () => attempt(async () => {
  const last = state.exploration.steps.at(-1);
  take(await api.undo(state.exploration.id));
  emit("chosen");
  emit("said", `undone: ${STEPS[last.do]}`);
});

export function tools(place) {
  const { views, steps } = state.exploration;
  fill(place,
    button("Undo", undo, { id: "undo", disabled: !steps.length }),
    button("Code", code, { id: "code", disabled: !views.length }),
    button("Keep", keep, { id: "keep", disabled: !views.length }));
}
