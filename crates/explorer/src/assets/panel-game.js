// Games: sharing, review and saving.

import { address } from "./api.js";
import { app, fen, on } from "./app.js";
import { savePng } from "./board-export.js";
import { lineOf, saveGame } from "./game-text.js";
import { toAddress } from "./link.js";
import { drawReview, reviewSection, startReview, textSection } from "./panel-review.js";
import { hasServer } from "./transport.js";
import { $, bar, button, copy, described, download, field, h, labelled, section, t } from "./ui.js";

export const key = "game";

/** The address of a picture of the position, which other pages may show. */
const picture = () => address("board.svg", { fen: fen() });

/** The markup of a frame with this view, for other pages. */
const frame = () =>
  h("iframe", { src: location.origin + toAddress(true), title: t("title"), width: 360, height: 600 }).outerHTML;

export function build() {
  return [
    reviewSection(),
    section(
      "sharehead",
      t("share"),
      h(
        "div",
        { class: "fenrow" },
        h("input", {
          id: "sharelink",
          readonly: true,
          "aria-label": t("share.link"),
          onfocus: ({ target }) => target.select(),
        }),
        button(t("share.copy"), () => copy($("#sharelink").value), { id: "copylink" }),
      ),
      bar(
        button(t("share.fen"), () => copy(fen())),
        button(t("share.frame"), () => copy(frame()), { id: "copyframe" }),
        button("SVG", saveSvg, { id: "savesvg", "aria-label": t("share.svg") }),
        button("PNG", () => savePng(app.board.toSvg(), "doushouqi.png"), {
          id: "savepng",
          "aria-label": t("share.png"),
        }),
        hasServer ? h("a", { id: "boardsvg", href: picture() }, t("share.picture")) : "",
      ),
    ),
    section(
      "savehead",
      t("save"),
      h("p", { id: "gametags", class: "soft" }),
      bar(
        nameField("White", t("white")),
        nameField("Black", t("black")),
        button(t("save.text"), () => saveGame(app.game, ended()), { id: "savegame" }),
        button(t("save.copy"), () => saveGame(app.game, ended(), copy)),
      ),
    ),
    textSection(),
  ];
}

export function update() {
  link();
  drawTags();
  if (hasServer) $("#boardsvg").href = picture();
  drawReview();
}

export function startGame() {
  startReview();
  on("address", link);
}

function link() {
  const shown = $("#sharelink");
  if (shown) shown.value = location.origin + toAddress();
}

const saveSvg = () => download(app.board.toSvg(), "doushouqi.svg", "image/svg+xml");

/** The result of a game that has ended on the board. */
const ended = () => ({ result: app.finished?.result });

/** @param {string} name */
const tag = (name) => app.game.tags.find(([other]) => other === name)?.[1] ?? "";

/**
 * A field for the name of a player, which is a tag of the game.
 * @param {string} name
 * @param {string} label
 */
function nameField(name, label) {
  /** @type {Page.Attributes["oninput"]} */
  const oninput = ({ target: { value } }) => {
    const others = app.game.tags.filter(([other]) => other !== name);
    app.game.tags = value ? [[name, value], ...others] : others;
  };
  const id = `${name.toLowerCase()}name`;
  return field(label, h("input", { id, size: 12, maxlength: 60, value: tag(name), oninput }));
}

/** Shows the tags of the game, and its result if the rules have not given it. */
function drawTags() {
  const { ending } = lineOf(app.game);
  $("#gametags").textContent = described([...app.game.tags, ...ending].map(([name, value]) => labelled(name, value)));
  for (const name of ["White", "Black"]) {
    const input = $(`#${name.toLowerCase()}name`);
    if (input !== document.activeElement) input.value = tag(name);
  }
}
