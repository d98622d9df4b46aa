// The keyboard shortcuts of the page, and the overlay that lists them.

import { addBestLine, app, emit, goTo, isExact, on, play, step, undo } from "./app.js";
import { toggleEditor } from "./editor.js";
import { toggleAnalysis } from "./panel-engine.js";
import { choose } from "./panel-explore.js";
import { $, bar, button, checkbox, h, t, toast } from "./ui.js";
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

/** @type {[string[], string, (event: any) => unknown][]} Keys, the key of their description, and their action. */
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
    (/** @type {any} */ event) => $(`#tab-${Object.keys(ENTRIES)[Number(event.key) - 1]}`).click(),
  ],
];

/** @type {Record<string, string>} The symbols of keys in the list of shortcuts. */
const SPOKEN = { ArrowLeft: "←", ArrowRight: "→", " ": "␣" };

/**
 * Whether a control has the focus; the board passes on the keys that it does not use.
 * @param {any} first
 */
const onControl = ({ target }) =>
  !target.closest?.(".cell") && target.closest?.("button, a, summary, input, select, textarea, [tabindex]");

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
    const action = ACTIONS.find((/** @type {any} */ [keys]) => keys.includes(event.key));
    if (!action) return;
    event.preventDefault();
    action[2](event);
  });
  build();
  on("language", build);
}

/** @param {any} event */
const inField = (event) =>
  event.target.closest?.("input:not([type=range], [type=checkbox], [type=radio]), textarea, select") !== null;

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
  const row = (/** @type {string[]} */ keys, /** @type {string} */ text) =>
    h(
      "tr",
      {},
      h(
        "th",
        { scope: "row" },
        keys.map((/** @type {string} */ key) => [h("kbd", {}, SPOKEN[key] ?? key), " "]),
      ),
      h("td", {}, text),
    );
  $("#keys").replaceChildren(
    h("h2", { id: "keyshead", tabindex: "-1" }, t("keys")),
    h(
      "table",
      {},
      h(
        "tbody",
        {},
        ACTIONS.map((/** @type {any} */ [keys, text]) => row(keys, t(text))),
        row(["←", "→", "↑", "↓"], t("key.arrows")),
        row(["Enter"], t("key.enter")),
        row(["Esc"], t("key.escape")),
        row(["Home", "End", "PgUp", "PgDn"], t("key.edges")),
        row(["E", "e", "…"], t("key.letters")),
        row(["Del"], t("key.delete")),
      ),
    ),
    bar(
      checkbox(t("keys.single"), Boolean(app.settings.keys), setKeys, { id: "singlekeys" }),
      h("span", { class: "space" }),
      button(t("close"), () => $("#keys").close(), { class: "main", id: "closekeys" }),
    ),
  );
}
