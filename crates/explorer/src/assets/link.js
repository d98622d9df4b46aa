// The address: rules, position, line, view and overlay, so that a link and a reload restore the view.

import { app, emit, fen, load } from "./app.js";
import { boardOf, couldPlay, format, parseLeniently, splitClock, START } from "./position.js";
import { t } from "./ui.js";
import { parseTree, treeText } from "./variations.js";

/** The rules of the server, and the error that it found in the address of the page. */
const { rules: SERVED = "", problem: PROBLEM = "" } = document.documentElement.dataset;
const OPENED = location.search;

/** The longest line of an address with its variations, in characters; longer ones are written without. */
const LONGEST = 5000;

/**
 * @param {string} text
 */
const underscored = (text) => text.replaceAll(" ", "_");

/**
 * Text within a query: only characters that a query cannot contain are encoded, so that a FEN stays readable.
 * @param {string} text
 */
const encoded = (text) => encodeURIComponent(text).replaceAll(/%(2F|2C|3A|3D)/g, decodeURIComponent);

export function toAddress() {
  const query = [
    ["fen", underscored(fen())],
    ["rules", app.rules],
  ];
  const line = app.game.line();
  if (line.length > 1 || app.game.clock) {
    const text = treeText(app.game.root);
    query.push(
      ["from", underscored(app.game.start())],
      ["line", text.length > LONGEST ? treeText(app.game.root, false) : text],
      ["at", String(app.game.cursor.ply)],
    );
  }
  if (app.tab !== "position" && app.tab !== "home") query.push(["view", app.tab]);
  if (app.overlay) query.push(["overlay", app.overlay.name]);
  if (app.board?.arrows.length) query.push(["arrows", app.board.arrowText()]);
  return `/?${query.map(([key, value]) => `${key}=${encoded(value)}`).join("&")}`;
}

/**
 * The FEN that a game begins at, in the usual spelling, with its halfmove clock if there is one.
 * @param {string} text
 */
function startOf(text) {
  const { position, clock } = splitClock(text.replaceAll("_", " ").trim());
  return clock ? `${format(boardOf(position))} ${clock}` : format(boardOf(position));
}

/**
 * Applies an address. For an invalid one the page shows the readable part and the error.
 * @param {string} search
 */
export function fromAddress(search) {
  const query = new URLSearchParams(search);
  app.notice = "";
  if (search === OPENED && PROBLEM) {
    load(format(parseLeniently(query.get("fen") ?? query.get("from") ?? "")), []);
    app.broken = { ...JSON.parse(PROBLEM), fen: query.get("fen") ?? "" };
    app.rules = SERVED;
  } else {
    const fromQuery = query.get("fen");
    const given = fromQuery ? format(boardOf(fromQuery)) : START;
    const root = startOf(query.get("from") ?? given);
    const moves = parseTree(query.get("line") ?? "");
    const read = load(root, moves, moves.length ? Number(query.get("at") ?? 0) : null);
    if (read < moves.length) app.notice = t("notice.line", { n: read, move: moves[read].uci });
    // A position that the line does not lead to is shown without the line.
    if (fen() !== given && couldPlay(splitClock(root).position, moves[0]?.uci ?? "") === false) load(given, []);
    app.rules = query.get("rules") || SERVED;
  }
  app.game.done = [];
  const hasPosition = app.broken || ["fen", "from", "line"].some((key) => query.has(key));
  app.tab = query.get("view") || (hasPosition ? "position" : "home");
  app.wanted = { overlay: query.get("overlay"), arrows: query.get("arrows") };
}

let jumping = true;
export const jump = () => (jumping = true);

/** Writes the address, but keeps an invalid one. The browser's back button undoes a jump to another position. */
export function write() {
  if (app.broken || app.tab === "home") return;
  const address = toAddress();
  if (address === location.pathname + location.search) return;
  if (jumping) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
  jumping = false;
  emit("address");
}
export const settled = () => (jumping = false);
