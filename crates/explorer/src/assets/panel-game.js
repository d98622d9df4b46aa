// Games: review, saving and sharing.

import { address, get, post } from "./api.js";
import { app, emit, fen, goTo, load, on, refresh } from "./app.js";
import { toAddress } from "./link.js";
import { score } from "./panel-engine.js";
import { $, button, copy, download, errorText, h, s, say, t, toast } from "./ui.js";

export const key = "game";
let review = null;

export function build() {
  return [
    h("section", { "aria-labelledby": "sharehead" }, h("h3", { id: "sharehead" }, t("share")),
      h("div", { class: "fenrow" }, h("input", { id: "sharelink", readonly: true, "aria-label": t("share.link"), onfocus: (event) => event.target.select() }), button(t("share.copy"), () => copy($("#sharelink").value), { id: "copylink" })),
      h("div", { class: "bar" }, button(t("share.fen"), () => copy(fen())), button("SVG", () => download(app.board.toSvg(), "doushouqi.svg", "image/svg+xml"), { id: "savesvg", "aria-label": t("share.svg") }), button("PNG", savePng, { id: "savepng", "aria-label": t("share.png") }),
        h("a", { id: "boardsvg", href: address("board.svg", { fen: fen() }) }, t("share.picture")))),
    h("section", { "aria-labelledby": "reviewhead" }, h("h3", { id: "reviewhead" }, t("review")),
      h("p", { class: "soft" }, t("review.help")),
      h("textarea", { id: "gametext", rows: 6, spellcheck: "false", "aria-labelledby": "reviewhead", placeholder: "1. Eb3 rb7 2. c2c3 *" }),
      h("div", { class: "bar" }, button(t("review.do"), reviewText, { id: "review", class: "main" }), button(t("review.line"), reviewLine, { id: "reviewline" }),
        h("label", { class: "filelabel" }, t("review.file"), " ", h("input", { type: "file", accept: ".txt,.pgn,.game,text/plain", onchange: readFile }))),
      h("p", { id: "reviewstate", class: "soft", role: "status" }), h("div", { id: "reviewed" })),
    h("section", { "aria-labelledby": "savehead" }, h("h3", { id: "savehead" }, t("save")), h("div", { class: "bar" },
      h("label", {}, t("white"), " ", h("input", { id: "whitename", size: 12, maxlength: 60 })), h("label", {}, t("black"), " ", h("input", { id: "blackname", size: 12, maxlength: 60 })),
      button(t("save.text"), saveText, { id: "savegame" }), button(t("save.copy"), async () => { const text = await gameText(); if (text) copy(text); }))),
  ];
}

export function update() {
  $("#sharelink").value = location.origin + toAddress();
  $("#boardsvg").href = address("board.svg", { fen: fen() });
  drawReview();
}

export const startGame = () => on("address", () => { const link = $("#sharelink"); if (link) link.value = location.origin + toAddress(); });

async function savePng() {
  const image = new Image();
  const url = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(app.board.toSvg())}`;
  image.src = url;
  try {
    await image.decode();
    const canvas = h("canvas", { width: image.width, height: image.height });
    canvas.getContext("2d").drawImage(image, 0, 0);
    canvas.toBlob((blob) => download(blob, "doushouqi.png"));
  } catch (error) {
    toast(error.message);
  }
}

const lineMoves = () => app.game.line().slice(1).map((node) => node.uci);

async function gameText() {
  try {
    return (await post("game", { fen: app.game.start(), moves: lineMoves(), rules: app.rules, white: $("#whitename").value, black: $("#blackname").value })).text;
  } catch (error) {
    toast(errorText(error));
    return null;
  }
}

async function saveText() {
  const text = await gameText();
  if (text) download(text, "game.txt", "text/plain");
}

async function readFile(event) {
  const [file] = event.target.files;
  if (file) $("#gametext").value = await file.text();
}

const reviewText = () => ask({ text: $("#gametext").value });
const reviewLine = () => ask({ fen: app.game.start(), moves: lineMoves(), rules: app.rules });

/** Asks for a review, and takes its moves over as the line with marks. */
async function ask(body) {
  const state = $("#reviewstate");
  state.textContent = t("engine.thinking");
  try {
    const answer = await post("review", body);
    app.rules = await presetName(answer.rules);
    load(answer.fen, answer.moves.map((move) => move.uci), 0);
    app.game.line().slice(1).forEach((node, i) => {
      const move = answer.moves[i];
      node.mark = move.mark ?? "";
      node.note = move.mark ? t("review.loss", { n: lossText(move) }) : "";
    });
    review = answer;
    emit("rules");
    await refresh({ quiet: true });
    drawReview();
    const bad = answer.moves.filter((move) => move.mark).length;
    $("#reviewstate").textContent = t("review.done", { n: answer.moves.length, bad });
    say(t("review.done", { n: answer.moves.length, bad }));
  } catch (error) {
    state.textContent = errorText(error);
  }
}

/** The preset's name of a canonical spelling, if it has one. */
async function presetName(rules) {
  const { presets } = await get("rules");
  return presets.find((preset) => preset.rules === rules)?.name ?? rules;
}

/** Hundredths of a cat; a won game that is none any more has no such measure. */
const lossText = (move) => (move.loss === null ? (move.mark ? t("review.result") : "") : (move.loss / 100).toFixed(2));


const scored = (value) => (value ? score(value) : "?");

function drawReview() {
  const host = $("#reviewed");
  if (!host) return;
  if (!review) return host.replaceChildren();
  const rows = review.moves.map((move, i) => h("tr", { class: i + 1 === app.game.cursor.ply ? "now" : null, "data-mark": move.mark },
    h("th", { scope: "row" }, button(`${i + 1}. ${move.san}${move.mark ?? ""}`, () => goTo(i + 1), { class: "plain" })),
    h("td", {}, scored(move.score_before)), h("td", {}, scored(move.score_after)), h("td", {}, move.loss === 0 ? "" : lossText(move)), h("td", { class: "soft" }, t(`source.${move.source}`))));
  host.replaceChildren(losses(), h("div", { class: "scroll", tabindex: "0", role: "group", "aria-labelledby": "reviewhead" }, h("table", { class: "list", id: "reviewtable" }, h("caption", { class: "sr" }, t("review")),
    h("thead", {}, h("tr", {}, [t("move"), t("review.best"), t("review.played"), t("review.lost"), t("source")].map((x) => h("th", { scope: "col" }, x)))), h("tbody", {}, rows))));
}

/** A column a move: how much it lost. The table below says the same. */
function losses() {
  const { moves } = review;
  const width = 600 / Math.max(1, moves.length);
  const height = { "": 0, "?!": 16, "?": 30, "??": 46 };
  return s("svg", { class: "chart", viewBox: "0 0 600 52", role: "img", "aria-label": t("review.chart", { n: moves.filter((move) => move.mark).length }) },
    s("path", { class: "axis", d: "M0 50.5 H600" }),
    moves.map((move, i) => [s("rect", { class: move.mark ? "loss" : "bar", x: i * width + width * 0.1, width: width * 0.8, y: 50 - Math.max(2, height[move.mark ?? ""]), height: Math.max(2, height[move.mark ?? ""]) }),
      s("rect", { class: "hit", x: i * width, y: 0, width, height: 50, onclick: () => goTo(i + 1) }, s("title", {}, `${i + 1}. ${move.san}${move.mark ?? ""}`))]));
}

