// Endgames to look at or to win: famous ones, and random ones of the tables.

import { app, fen, load, mayLeave, pieces, randomPosition, refresh } from "./app.js";
import { FAMOUS_ENDGAMES } from "./famous-endgames.js";
import { material } from "./position.js";
import { Trainer } from "./trainer.js";
import { $, button, h, labelled, t } from "./ui.js";

export const key = "endgames";

export function build() {
  const random = (/** @type {string} */ id, /** @type {() => Record<string, string>} */ wanted) =>
    button(t(`random.${id}`), () => randomPosition(wanted()), { id: `random${id}` });
  return [
    h(
      "section",
      { "aria-labelledby": "famoushead" },
      h("h3", { id: "famoushead" }, t("famous")),
      h("ul", { class: "lessons" }, FAMOUS_ENDGAMES.map(famousEndgame)),
    ),
    h(
      "section",
      { "aria-labelledby": "randomhead" },
      h("h3", { id: "randomhead" }, t("random")),
      h(
        "div",
        { class: "bar" },
        random("any", () => ({})),
        random("same", () => ({ material: material(fen()) })),
        random("draw", () => ({ material: material(fen()), wdl: "draw" })),
      ),
    ),
  ];
}

export function update() {
  const hasTable = app.probe?.known || pieces() <= app.largest;
  for (const id of ["same", "draw"]) $(`#random${id}`).disabled = !hasTable;
}

/**
 * A famous endgame with a button that shows it and, if White is to move and wins, one that plays it.
 * @param {import("./famous-endgames.js").FamousEndgame} endgame
 */
function famousEndgame({ key: name, fen: start, wdl, dtw }) {
  const show = async () => {
    if (!(await mayLeave())) return false;
    load({ start, moves: [], rules: "paper" });
    await refresh();
    return true;
  };
  const win = async () => (await show()) && new Trainer({ fen: start, plies: dtw ?? 0 }, 5).begin();
  const title = t(`famous.${name}`);
  const canWin = wdl === "win" && start.endsWith("w");
  return h(
    "li",
    {},
    button(title, show, { class: "plain", "data-famous": name }),
    canWin ? button(t("famous.win"), win, { "data-win": name, "aria-label": labelled(t("famous.win"), title) }) : "",
    h("p", { class: "soft" }, t(`famous.${name}.text`)),
  );
}
