// The first view of a visitor: the choices of the page, and the unfinished game.

import { app, emit, on, randomPosition } from "./app.js";
import { unfinished } from "./panel-play.js";
import { pieceIcon } from "./pieces.js";
import { $, h, t } from "./ui.js";

export const key = "home";
/** @type {(tab: string) => void} */
let openTab;

/** @param {(tab: string) => void} open opens a view */
export function startHome(open) {
  openTab = open;
  on("pieces", () => $(".home")?.replaceWith(build()));
}

/** @type {[string, string, () => unknown][]} A choice, the pieces that decorate it, and its action. */
const CHOICES = [
  ["play", "LtE", () => openTab("play")],
  ["learn", "C", () => openTab("learn")],
  [
    "analyse",
    "P",
    () => {
      openTab("engine");
      emit("probe");
    },
  ],
  [
    "endgames",
    "R",
    () => {
      openTab("endgames");
      return randomPosition({ rules: app.chosen });
    },
  ],
];

/**
 * @param {string} pieces
 */
const icons = (pieces) =>
  h(
    "span",
    { class: "icons" },
    [...pieces].map((piece) => pieceIcon(piece, app.settings.pieces, app.spelled)),
  );

function resume() {
  const game = unfinished();
  if (!game) return "";
  const act = () => {
    openTab("play");
    return game.resume();
  };
  return h(
    "button",
    { type: "button", class: "tile wide", id: "home-resume", onclick: act },
    h("strong", {}, t("home.resume")),
    h("span", {}, game.label),
  );
}

export function build() {
  const tile = (/** @type {[string, string, () => unknown]} */ [name, pieces, act]) =>
    h(
      "button",
      { type: "button", class: name === "play" ? "tile wide first" : "tile", id: `home-${name}`, onclick: act },
      icons(pieces),
      h("strong", {}, t(`home.${name}`)),
      h("span", {}, t(`home.${name}.what`)),
    );
  return h("div", { class: "home" }, CHOICES.map(tile), resume());
}

export function update() {
  // The choices are always the same.
}
