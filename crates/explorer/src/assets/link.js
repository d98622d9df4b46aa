// The address: rules, position, line, view and overlay, so that a link and a reload show the same again.

import { app, emit, fen, load } from "./app.js";
import { couldPlay, emptyBoard, format, parse, splitClock, START } from "./position.js";

/** The rules of the server, and what it found wrong with the address that the page was opened with. */
const { rules: SERVED, problem: PROBLEM } = document.documentElement.dataset;
const OPENED = location.search;

const underscored = (text) => text.replaceAll(" ", "_");

export function toAddress() {
  const query = [["fen", underscored(fen())], ["rules", app.rules]];
  const line = app.game.line();
  if (line.length > 1 || app.game.clock) {
    query.push(["from", underscored(app.game.start())], ["line", line.slice(1).map((node) => node.uci).join(".")], ["at", app.game.cursor.ply]);
  }
  if (app.tab !== "position") query.push(["view", app.tab]);
  if (app.overlay) query.push(["overlay", app.overlay.name]);
  if (app.board?.arrows.length) query.push(["arrows", app.board.arrowText()]);
  // Only what a query cannot hold is encoded; a FEN stays readable.
  return `/?${query.map(([key, value]) => `${key}=${encodeURIComponent(value).replaceAll("%2F", "/").replaceAll("%2C", ",").replaceAll("%3A", ":").replaceAll("%3D", "=")}`).join("&")}`;
}

/** The FEN that a game begins at, in the usual spelling, with its halfmove clock if there is one. */
function startOf(text) {
  const { position, clock } = splitClock(text.replaceAll("_", " ").trim());
  return clock ? `${format(parse(position))} ${clock}` : format(parse(position));
}

/** Takes over what an address says; of a wrong one only what is wrong. */
export function fromAddress(search) {
  const query = new URLSearchParams(search);
  if (search === OPENED && PROBLEM) {
    load(format(emptyBoard()), []);
    app.broken = { message: PROBLEM, fen: query.get("fen") ?? "" };
    app.rules = SERVED;
  } else {
    const given = query.get("fen") ? format(parse(query.get("fen"))) : START;
    const root = query.get("from") ? startOf(query.get("from")) : given;
    const moves = (query.get("line") ?? "").split(".").filter(Boolean);
    load(root, moves, moves.length ? Number(query.get("at") ?? 0) : null);
    // What the line does not lead to is shown without it.
    if (fen() !== given && couldPlay(splitClock(root).position, moves[0] ?? "") === false) load(given, []);
    app.rules = query.get("rules") || SERVED;
  }
  app.game.done = [];
  app.tab = query.get("view") || "position";
  app.wanted = { overlay: query.get("overlay"), arrows: query.get("arrows") };
}

let jumping = true;
export const jump = () => (jumping = true);

/** Writes the address, but leaves a wrong one alone; a jump to another position can be gone back from. */
export function write() {
  if (app.broken) return;
  const address = toAddress();
  if (address === location.pathname + location.search) return;
  if (jumping) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
  jumping = false;
  emit("address");
}
export const settled = () => (jumping = false);
