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

/**
 * The choices: an entry of the page, the pieces that decorate it, its view, and what follows when the view is open.
 * @type {[string, string, string, (() => unknown)?][]}
 */
const CHOICES = [
  ["play", "LtE", "play"],
  ["learn", "C", "learn"],
  ["analyse", "P", "engine", () => emit("probe")],
  ["endgames", "R", "endgames", () => randomPosition({ rules: app.chosen })],
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
  const tile = (/** @type {typeof CHOICES[number]} */ [name, pieces, view, then]) => {
    const act = () => {
      openTab(view);
      return then?.();
    };
    const texts = [icons(pieces), h("strong", {}, t(`tab.${name}`)), h("span", {}, t(`home.${name}.what`))];
    return button(texts, act, { class: name === "play" ? "tile wide first" : "tile", id: `home-${name}` });
  };
  return h("div", { class: "home" }, CHOICES.map(tile), resume());
}
