// The first view of a visitor: the choices of the page, and the unfinished game.

import { app, emit, randomPosition } from "./app.js";
import { unfinished } from "./panel-play.js";
import { pieceIcon } from "./pieces.js";
import { button, h, t } from "./ui.js";

export const key = "home";
/** @type {(tab: string) => void} */
let openTab;

/** @param {(tab: string) => void} open opens a view */
export function startHome(open) {
  openTab = open;
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

/** @param {string} pieces */
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
  const texts = [h("strong", {}, t("home.resume")), h("span", {}, game.label)];
  return button(texts, act, { class: "tile wide", id: "home-resume" });
}

export function build() {
  const tile = (/** @type {[string, string, () => unknown]} */ [name, pieces, act]) =>
    button([icons(pieces), h("strong", {}, t(`tab.${name}`)), h("span", {}, t(`home.${name}.what`))], act, {
      class: name === "play" ? "tile wide first" : "tile",
      id: `home-${name}`,
    });
  return h("div", { class: "home" }, CHOICES.map(tile), resume());
}
