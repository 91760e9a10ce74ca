// Rows that are images, or the pixels of one: mean images of groups, or a segmentation.

import * as api from "./api.js";
import { groupColours } from "./colours.js";
import { attempt, button, fill, h } from "./dom.js";
import { state } from "./state.js";

const square = (count) => (Number.isInteger(Math.sqrt(count)) && count >= 16 ? Math.sqrt(count) : null);

function canvas(width, height, paint, label) {
  const element = h("canvas", { width, height, role: "img", "aria-label": label, class: "image" });
  const context = element.getContext("2d");
  const data = context.createImageData(width, height);
  for (let i = 0; i < width * height; i += 1) data.data.set([...paint(i), 255], 4 * i);
  context.putImageData(data, 0, 0);
  return element;
}

function means(found, answer) {
  const all = answer.images.flat();
  const low = all.reduce((a, b) => Math.min(a, b));
  const high = all.reduce((a, b) => Math.max(a, b));
  const grey = (value) => Math.round((255 * (value - low)) / (high - low || 1));
  return answer.images.map((image, group) => h("figure", {},
    canvas(answer.width, answer.height, (i) => [grey(image[i]), grey(image[i]), grey(image[i])], `Mean image of ${found.group_names[group]}`),
    h("figcaption", {}, found.group_names[group])));
}

function segments(found, answer) {
  const colours = groupColours().map((text) => text.match(/[\d.]+/g).slice(0, 3).map(Number));
  return [h("figure", {}, canvas(answer.width, answer.height, (i) => (answer.labels[i] < 0 ? [128, 128, 128] : colours[answer.labels[i] % 8]), `Segments of ${found.name}`),
    h("figcaption", {}, "Every pixel in the colour of its group."))];
}

export function imagesPanel(found) {
  const side = square(found.features.length) ?? square(state.exploration.n_rows) ?? "";
  const height = h("input", { type: "number", min: "1", value: String(side), id: "image-height" });
  const width = h("input", { type: "number", min: "1", value: String(side), id: "image-width" });
  const place = h("div", { class: "images" });
  const show = () => attempt(async () => {
    if (!height.value || !width.value) throw new Error("Say how high and how wide the images are.");
    const answer = await api.images(state.exploration.id, found.id, height.value, width.value);
    fill(place, answer.kind === "means" ? means(found, answer) : segments(found, answer));
  });
  return h("details", { class: "panel" }, h("summary", {}, "Rows are images or pixels"),
    h("div", { class: "inside" }, h("div", { class: "row" },
      h("label", { class: "field" }, h("span", {}, "Height"), height), h("label", { class: "field" }, h("span", {}, "Width"), width), button("Show images", show)), place));
}
