// The keyboard shortcuts of the page, and the overlay that lists them.

import { addBestLine, app, emit, goTo, isExact, on, play, step, undo } from "./app.js";
import { toggleEditor } from "./editor.js";
import { toggleAnalysis } from "./panel-engine.js";
import { choose } from "./panel-explore.js";
import { $, bar, button, checkbox, h, row, t, toast } from "./ui.js";
import { ENTRIES } from "./views.js";

/** @param {string} kind */
function toggleOverlay(kind) {
  return choose(app.overlay?.name.startsWith(kind) ? "none" : kind);
}

/** Plays the best move of the tables, or else of the engine if it has evaluated the position. */
function playBest() {
  const known = isExact() ? app.probe?.moves?.[0]?.uci : app.evaluation.last?.pv?.[0]?.uci;
  if (app.controller || !known) return toast(t("best.unknown"));
  play(known);
}

/** @type {[string[], string, (event: KeyboardEvent) => unknown][]} Keys, the name of their text, and their action. */
const ACTIONS = [
  [["?"], "key.help", showKeys],
  [[",", "ArrowLeft"], "key.back", () => step(-1)],
  [[".", "ArrowRight"], "key.forward", () => step(1)],
  [["<"], "key.first", () => goTo(0)],
  [[">"], "key.last", () => goTo(Infinity)],
  [["x", " "], "key.best", playBest],
  [["n"], "key.line", () => addBestLine()],
  [["k"], "key.play", () => $("#player-play").click()],
  [["g"], "key.board", () => app.board.focus(app.board.focused)],
  [["m"], "key.move", () => $("#movein").focus()],
  [["v"], "key.values", () => $("#values").click()],
  [["h"], "key.whatif", () => toggleOverlay("whatif")],
  [["a"], "key.race", () => toggleOverlay("race")],
  [["f"], "key.flip", () => $("#flip").click()],
  [["i"], "key.edit", () => toggleEditor()],
  [["z"], "key.undo", () => undo("undo")],
  [["y"], "key.redo", () => undo("redo")],
  [
    ["s"],
    "key.analyze",
    () => {
      emit("opentab", "engine");
      toggleAnalysis();
    },
  ],
  [
    Object.keys(ENTRIES).map((_, i) => String(i + 1)),
    "key.tabs",
    (event) => $(`#tab-${Object.keys(ENTRIES)[Number(event.key) - 1]}`).click(),
  ],
];

/** @type {Record<string, string>} The symbols of keys in the list of shortcuts. */
const SPOKEN = { ArrowLeft: "←", ArrowRight: "→", " ": "␣" };

/** Whether a control has the focus; the board passes on the keys that it does not use. @param {Event} event */
const onControl = ({ target }) =>
  target instanceof Element &&
  !target.closest(".cell") &&
  target.closest("button, a, summary, input, select, textarea, [tabindex]");

export function startKeys() {
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !inField(event)) {
      event.preventDefault();
      return undo(event.shiftKey ? "redo" : "undo");
    }
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || inField(event) || $("#keys").open)
      return;
    if (!app.settings.keys && event.key !== "?") return;
    if (event.key in SPOKEN && onControl(event)) return;
    const action = ACTIONS.find(([keys]) => keys.includes(event.key));
    if (!action) return;
    event.preventDefault();
    action[2](event);
  });
  build();
  on("language", build);
}

/** @param {Event} event */
const inField = ({ target }) =>
  target instanceof Element &&
  target.closest("input:not([type=range], [type=checkbox], [type=radio]), textarea, select") !== null;

/** Opens the list of keys. */
export function showKeys() {
  $("#keys").showModal();
  // With the focus on the first control, which is below the list, a small screen would begin at the end.
  $("#keyshead").focus();
}

/** @param {boolean} on */
function setKeys(on) {
  app.settings.keys = on;
  emit("settings");
}

function build() {
  const pressed = (/** @type {string[]} */ keys, /** @type {string} */ text) =>
    row([keys.map((key) => [h("kbd", {}, SPOKEN[key] ?? key), " "]), text]);
  $("#keys").replaceChildren(
    h("h2", { id: "keyshead", tabindex: "-1" }, t("keys")),
    h(
      "table",
      {},
      h(
        "tbody",
        {},
        ACTIONS.map(([keys, text]) => pressed(keys, t(text))),
        pressed(["←", "→", "↑", "↓"], t("key.arrows")),
        pressed(["Enter"], t("key.enter")),
        pressed(["Esc"], t("key.escape")),
        pressed(["Home", "End", "PgUp", "PgDn"], t("key.edges")),
        pressed(["E", "e", "…"], t("key.letters")),
        pressed(["Del"], t("key.delete")),
      ),
    ),
    bar(
      checkbox(t("keys.single"), app.settings.keys, setKeys, { id: "singlekeys" }),
      h("span", { class: "space" }),
      button(t("close"), () => $("#keys").close(), { class: "main", id: "closekeys" }),
    ),
  );
}
