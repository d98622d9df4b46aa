// The first thing that a visitor sees: what one can do here.

import { emit, randomPosition } from "./app.js";
import { h, t } from "./ui.js";

export const key = "home";
/** @type {(tab: string) => void} */
let openTab;

/** @param {(tab: string) => void} open opens a view */
export function startHome(open) {
  openTab = open;
}

/** @type {[string, () => unknown][]} */
const CHOICES = [
  ["play", () => openTab("play")],
  ["learn", () => openTab("learn")],
  [
    "analyse",
    () => {
      openTab("engine");
      emit("probe");
    },
  ],
  [
    "endgames",
    () => {
      openTab("position");
      return randomPosition({});
    },
  ],
];

export function build() {
  const tile = (/** @type {[string, () => unknown]} */ [name, act]) =>
    h(
      "button",
      { type: "button", class: "tile", id: `home-${name}`, onclick: act },
      h("strong", {}, t(`home.${name}`)),
      h("span", {}, t(`home.${name}.what`)),
    );
  return h("div", { class: "home" }, CHOICES.map(tile));
}

export function update() {
  // The choices are always the same.
}
