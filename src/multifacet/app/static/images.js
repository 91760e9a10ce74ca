// Rows that are images, or the pixels of one: mean images of groups, or a segmentation.

import * as api from "./api.js";
import { groupColours, mark } from "./colours.js";
import { attempt, button, fill, h } from "./dom.js";
import { state } from "./state.js";

const square = (count) => (Number.isInteger(Math.sqrt(count)) && count >= 16 ? Math.sqrt(count) : null);

// Numeric columns, as pixels that never change are no features.
function numbers() {
  const { given, identifier } = state.exploration.setup;
  return state.preview.columns.filter((one) => one.kind === "number" && one.name !== identifier && !given.includes(one.name)).length;
}

function canvas(width, height, paint, label, kind = "") {
  const element = h("canvas", { width, height, role: "img", "aria-label": label, class: `image ${kind}` });
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
    h("figcaption", {}, mark(group), found.group_names[group])));
}

function segments(found, answer) {
  const colours = groupColours().map((text) => text.match(/[\d.]+/g).slice(0, 3).map(Number));
  const figure = (paint, label, words) => h("figure", {}, canvas(answer.width, answer.height, paint, label, "whole"), h("figcaption", {}, words));
  return [
    figure((i) => (answer.labels[i] < 0 ? [128, 128, 128] : colours[answer.labels[i] % 8]), `Segments of ${found.name}`, "Every pixel in the colour of its group."),
    answer.picture ? figure((i) => answer.picture[i], "The picture itself", `The picture, by ${found.features.join(", ")}.`) : null,
  ];
}

export function imagesPanel(found) {
  const side = square(found.features.length) ?? square(numbers()) ?? square(state.exploration.n_rows) ?? "";
  const size = (id, at) => h("input", { type: "number", min: "1", value: String(state.image?.[at] ?? side), id });
  const [height, width] = [size("image-height", 0), size("image-width", 1)];
  const place = h("div", { class: "images" });
  const show = () => attempt(async () => {
    if (!height.value || !width.value) throw new Error("Say how high and how wide the images are.");
    const answer = await api.images(state.exploration.id, found.id, height.value, width.value);
    state.image = [height.value, width.value];
    fill(place, answer.kind === "means" ? means(found, answer) : segments(found, answer));
  });
  if (state.image) show();
  return h("details", { class: "panel", open: Boolean(state.image) }, h("summary", {}, "Rows are images or pixels"),
    h("div", { class: "inside" }, h("div", { class: "row" },
      h("label", { class: "field" }, h("span", {}, "Height"), height), h("label", { class: "field" }, h("span", {}, "Width"), width), button("Show images", show)), place));
}
