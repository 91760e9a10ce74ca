// What the page knows, and who wants to hear when it changes.

import * as api from "./api.js";

export const state = {
  exploration: null,
  preview: null,
  chosen: null, // id of the view that is shown
  details: new Map(), // views with their points, by id and version
  selection: new Set(), // rows that are highlighted everywhere
  colouring: "own", // how the overview is coloured
  frontier: null, // point of the frontier that is shown
  image: null, // height and width, once someone has said them
};

const listeners = new Map();

export function on(event, listener) {
  if (!listeners.has(event)) listeners.set(event, new Set());
  listeners.get(event).add(listener);
}

export function emit(event, ...details) {
  for (const listener of listeners.get(event) ?? []) listener(...details);
}

export function forget() {
  listeners.clear();
  Object.assign(state, { exploration: null, preview: null, chosen: null, frontier: null, image: null, colouring: "own" });
  state.details.clear();
  state.selection = new Set();
}

// Take over what the server says; the first view is shown unless another one is.
export function take(exploration) {
  state.exploration = exploration;
  const ids = exploration.views.map((view) => view.id);
  if (!ids.includes(state.chosen)) state.chosen = ids.at(-1) ?? null;
  emit("exploration");
}

export const shownViews = () => state.exploration.views.filter((view) => view.status !== "rejected");

const version = (view) => JSON.stringify([view.name, view.status, view.sizes,
  state.exploration.steps.filter((step) => step.view === view.id).length]);

export async function detail(id) {
  const view = state.exploration.views.find((one) => one.id === id);
  const key = version(view);
  const known = state.details.get(id);
  if (known?.key === key) return known.promise;
  const promise = api.view(state.exploration.id, id);
  state.details.set(id, { key, promise });
  promise.catch(() => state.details.delete(id));
  return promise;
}

// The columns that points can be coloured by.
export const colourings = () => state.preview.columns.filter((one) => one.values > 1).map((one) => one.name);

export async function columnOf(found, name) {
  const known = found.known.find((one) => one.name === name);
  if (known) return known;
  found.columns ??= new Map();
  if (!found.columns.has(name)) found.columns.set(name, api.column(state.exploration.id, found.id, name));
  return found.columns.get(name);
}

export function highlight(rows) {
  state.selection = new Set(rows);
  emit("selection");
}
