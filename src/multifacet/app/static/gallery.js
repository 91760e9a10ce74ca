// Rows to look at: typical and contrasting ones of every group, as texts and pictures.

import { mark } from "./colours.js";
import { h } from "./dom.js";

const OPEN = 8;

// Words that set groups apart stand out. The text is cut into pieces, which stay text.
function marked(text, words) {
  if (!words.length) return text;
  const known = new Set(words);
  return text.split(/([\p{L}]+(?:['\u2019][\p{L}]+)?)/u).map((part) => known.has(part.toLowerCase()) ? h("mark", {}, part) : part);
}

function card(row, words) {
  const pictures = Object.entries(row.images).map(([name, data]) =>
    data.startsWith("data:image/") ? h("img", { src: data, alt: `${name} of ${row.row}`, loading: "lazy" }) : null);
  const several = Object.keys(row.texts).length > 1;
  const texts = Object.entries(row.texts).map(([name, text]) => h("p", {}, several ? `${name}: ` : null, marked(text, words)));
  return h("li", {}, pictures, texts, h("span", {}, String(row.row)));
}

function rows(gallery, places, caption, words, colour) {
  const seen = places.map((place) => gallery.rows[place]);
  const wide = seen.some((row) => Object.keys(row.texts).length) ? " wide" : "";
  return h("figure", { class: `gallery${wide}` }, h("figcaption", {}, colour === null ? null : mark(colour), caption),
    h("ul", {}, seen.map((row) => card(row, words))));
}

function group(found, gallery, one) {
  const name = found.group_names[one.label], colour = found.colours[one.label];
  const other = one.other === null ? "" : found.group_names[one.other];
  return h("section", {}, h("h4", {}, name),
    one.words.length ? h("p", {}, `Words that set it apart: ${one.words.join(", ")}.`) : null,
    rows(gallery, one.typical, "Typical: nearest to the centre of the group.", one.words, colour),
    one.far.length ? h("div", { class: "columns" },
      rows(gallery, one.far, `Farthest from ${other}.`, one.words, colour),
      rows(gallery, one.near, `Nearest to ${other}.`, one.words, colour)) : null);
}

function ends(gallery) {
  const words = gallery.groups.flatMap((one) => one.words);
  return gallery.axes.map((axis, i) => h("div", { class: "columns" },
    rows(gallery, axis.low, `Axis ${i + 1}: its low end.`, words, null),
    rows(gallery, axis.high, `Axis ${i + 1}: its high end.`, words, null)));
}

export function galleryPanel(found) {
  const { gallery } = found.description;
  if (!gallery) return null;
  const groups = gallery.groups.map((one) => group(found, gallery, one));
  return h("section", { id: "gallery" }, h("h3", {}, "Rows to look at"),
    gallery.notes.map((note) => h("p", { class: "note" }, note)), groups.slice(0, OPEN),
    groups.length > OPEN ? h("details", { class: "panel" }, h("summary", {}, `${groups.length - OPEN} more groups`), h("div", { class: "inside" }, groups.slice(OPEN))) : null,
    h("details", { class: "panel" }, h("summary", {}, "The ends of the axes"), h("div", { class: "inside" }, ends(gallery))));
}
