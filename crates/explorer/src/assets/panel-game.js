// Games: sharing, review and saving.

import { address } from "./api.js";
import { app, fen, on } from "./app.js";
import { writeGame } from "./gamefile.js";
import { toAddress } from "./link.js";
import { drawReview, reviewSection, startReview } from "./panel-review.js";
import { hasServer } from "./transport.js";
import { $, button, copy, download, h, t, toast } from "./ui.js";

export const key = "game";

/** The address of a picture of the position, which other pages may show. */
const picture = () => address("board.svg", { fen: fen() });

export function build() {
  return [
    reviewSection(),
    h(
      "section",
      { "aria-labelledby": "sharehead" },
      h("h3", { id: "sharehead" }, t("share")),
      h(
        "div",
        { class: "fenrow" },
        h("input", {
          id: "sharelink",
          readonly: true,
          "aria-label": t("share.link"),
          onfocus: (/** @type {any} */ event) => event.target.select(),
        }),
        button(t("share.copy"), () => copy($("#sharelink").value), { id: "copylink" }),
      ),
      h(
        "div",
        { class: "bar" },
        button(t("share.fen"), () => copy(fen())),
        button("SVG", saveSvg, { id: "savesvg", "aria-label": t("share.svg") }),
        button("PNG", savePng, { id: "savepng", "aria-label": t("share.png") }),
        hasServer ? h("a", { id: "boardsvg", href: picture() }, t("share.picture")) : "",
      ),
    ),
    h(
      "section",
      { "aria-labelledby": "savehead" },
      h("h3", { id: "savehead" }, t("save")),
      h(
        "div",
        { class: "bar" },
        h("label", {}, t("white"), " ", h("input", { id: "whitename", size: 12, maxlength: 60 })),
        h("label", {}, t("black"), " ", h("input", { id: "blackname", size: 12, maxlength: 60 })),
        button(t("save.text"), () => download(gameText(), "game.txt", "text/plain"), { id: "savegame" }),
        button(t("save.copy"), () => copy(gameText())),
      ),
    ),
  ];
}

export function update() {
  link();
  if (hasServer) $("#boardsvg").href = picture();
  drawReview();
}

export function startGame() {
  startReview();
  on("address", link);
}

function link() {
  const field = $("#sharelink");
  if (field) field.value = location.origin + toAddress();
}

const saveSvg = () => download(app.board.toSvg(), "doushouqi.svg", "image/svg+xml");

async function savePng() {
  const image = new Image();
  const url = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(app.board.toSvg())}`;
  image.src = url;
  try {
    await image.decode();
    const canvas = h("canvas", { width: image.width, height: image.height });
    canvas.getContext("2d")?.drawImage(image, 0, 0);
    canvas.toBlob((blob) => blob && download(blob, "doushouqi.png"));
  } catch (error) {
    toast(error.message);
  }
}

/** The line on the board with its variations as a file of `dsq`. */
const gameText = () =>
  writeGame({
    root: app.game.root,
    start: app.game.start(),
    rules: app.spelled,
    limit: app.game.limit,
    white: $("#whitename").value,
    black: $("#blackname").value,
    result: app.finished?.result ?? app.probe?.over ?? null,
  });
