// Endgames to look at or to win: famous ones, and random ones of the tables.

import { app, fen, mayLeave, pieces, randomPosition, show } from "./app.js";
import { miniature } from "./board.js";
import { FAMOUS_ENDGAMES } from "./famous-endgames.js";
import { material } from "./position.js";
import { readRules, spelledOut } from "./ruleset.js";
import { Trainer } from "./trainer.js";
import { $, bar, button, h, labelled, section, t } from "./ui.js";

export const key = "endgames";

export function build() {
  const random = (/** @type {string} */ id, /** @type {() => Record<string, string>} */ wanted) =>
    button(t(`random.${id}`), () => randomPosition(wanted()), { id: `random${id}` });
  return [
    section("famoushead", t("famous"), h("ul", { class: "diagrams" }, FAMOUS_ENDGAMES.map(famousEndgame))),
    section(
      "randomhead",
      t("random"),
      bar(
        random("any", () => ({ rules: app.chosen })),
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
 * A famous endgame as a picture with a button that shows it and, unless it is a draw, one that plays the winning side.
 * @param {import("./famous-endgames.js").FamousEndgame} endgame
 */
function famousEndgame({ key: name, fen: start, dtw }) {
  const rules = "paper";
  const win = async () => (await mayLeave()) && new Trainer({ fen: start, plies: dtw ?? 0, rules }).start();
  const title = t(`famous.${name}`);
  const picture = miniature(start, app.settings.pieces, spelledOut(readRules(rules)));
  return h(
    "li",
    {},
    button([picture, h("strong", {}, title)], () => show({ start, moves: [], rules, chosen: app.chosen }), {
      class: "plain",
      "data-famous": name,
    }),
    h("p", { class: "soft" }, t(`famous.${name}.text`)),
    dtw ? button(t("famous.win"), win, { "data-win": name, "aria-label": labelled(t("famous.win"), title) }) : "",
  );
}
