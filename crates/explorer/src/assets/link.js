// The address: rules, position, line, view and overlay, so that a link and a reload restore the view.

import { options } from "./analysis.js";
import { get } from "./api.js";
import { app, emit, fen, load } from "./app.js";
import { readTasks, taskQuery } from "./class.js";
import { readArrows } from "./game.js";
import {
  boardOf,
  format,
  NO_CAPTURE_LIMIT,
  parseLeniently,
  splitClock,
  START,
  underscored,
  withClock,
} from "./position.js";
import { readRules } from "./ruleset.js";
import { isChinese, t } from "./ui.js";
import { commentText, parseTree, treeText } from "./variations.js";

/** The rules of the server, and the error that it found in the address of the page. */
const { rules: SERVED = "", problem: PROBLEM = "" } = document.documentElement.dataset;
const OPENED = location.search;

/**
 * The rules where an address names neither rules nor a position: on a Chinese page the Chinese ones, unless the
 * operator of the server has chosen others.
 */
export const defaultRules = () => (isChinese() && SERVED === "paper" ? "chinese" : SERVED);

/** The most characters of a line with variations and comments, and of the tasks; a longer line is written without. */
const LONGEST = 5000;

/**
 * Text within a query: only characters that a query cannot contain are encoded, so that a FEN stays readable.
 * @param {string} text
 */
const encoded = (text) => encodeURIComponent(text).replaceAll(/%(2F|2C|3A|3D)/g, decodeURIComponent);

/** Whether the page is a board in another page. */
export const isEmbedded = new URLSearchParams(OPENED).has("embed");

/** An address of the page. @param {string[][]} query keys and values */
export const addressOf = (query) =>
  `${location.pathname}?${query.map(([key, value]) => `${key}=${encoded(value)}`).join("&")}`;

export function toAddress(embedded = isEmbedded) {
  const query = [
    ["fen", underscored(fen())],
    ["rules", app.rules],
  ];
  const { limit, root } = app.game;
  if (limit !== NO_CAPTURE_LIMIT) query.push(["no_capture_limit", String(limit ?? 0)]);
  const line = app.game.line();
  if (line.length > 1 || root.clock || root.comment) {
    const text = commentText(root) + treeText(root);
    query.push(
      ["from", underscored(app.game.start())],
      ["line", addressOf([["line", text], ...taskQuery()]).length > LONGEST ? treeText(root, true) : text],
      ["at", String(app.game.cursor.ply)],
    );
  }
  if (app.tab !== "position" && app.tab !== "home") query.push(["view", app.tab]);
  if (embedded) query.push(["embed", "1"]);
  if (app.overlay) query.push(["overlay", app.overlay.name]);
  return addressOf([...query, ...taskQuery()]);
}

/**
 * The FEN that a game begins at, in the usual spelling, with its halfmove clock if there is one.
 * @param {string} text
 */
function startOf(text) {
  const { position, clock } = splitClock(text.replaceAll("_", " ").trim());
  return withClock(format(boardOf(position)), clock);
}

/** The no-capture limit of an address: a number of plies, 0 for no limit. @param {string | null} text */
const limitOf = (text) => (/^\d+$/.test(text ?? "") ? Number(text) || null : NO_CAPTURE_LIMIT);

/**
 * The error in an address that this page cannot read.
 * @param {string} search
 * @returns {Promise<Page.Problem>}
 */
export async function problemIn(search) {
  const query = new URLSearchParams(search);
  try {
    await get("state", { fen: firstOf(query) });
    await get("probe", { fen: query.get("fen"), rules: query.get("rules") });
    return { code: "bad_fen", message: t("error.bad_fen") };
  } catch (error) {
    return error;
  }
}

/**
 * The first position of the line. Some messengers add a key `from` of their own to every link.
 * @param {URLSearchParams} query
 */
const firstOf = (query) => query.getAll("from").find((text) => text.includes("/"));

/**
 * Applies an address. For an invalid one the page shows the readable part and the error.
 * @param {string} search
 * @param {Page.Problem | null} [problem] the error, if it is known
 */
export function fromAddress(search, problem = search === OPENED && PROBLEM ? JSON.parse(PROBLEM) : null) {
  const query = new URLSearchParams(search);
  const from = firstOf(query);
  const position = query.get("fen");
  const isFree = !position && !from && !query.get("line");
  app.notice = "";
  if (problem) {
    const start = format(parseLeniently(position ?? from ?? ""));
    load({ start, moves: [], rules: SERVED });
    // Spreading an error leaves out its message.
    app.broken = { ...problem, message: problem.message, fen: position ?? "" };
  } else {
    const rules = query.get("rules") || (isFree ? defaultRules() : SERVED);
    if (!readRules(rules)) throw new TypeError(rules);
    const limit = limitOf(query.get("no_capture_limit"));
    const terms = { rules, limit };
    const given = position ? format(boardOf(position)) : START;
    // A comment before the first move is one on the game.
    const [, comment, line] = /^(?:\{([^}]*)\})?(.*)$/s.exec(query.get("line") ?? "") ?? [];
    const moves = parseTree(line);
    const read = load({ start: startOf(from ?? given), moves, comment, ...terms }, Number(query.get("at")));
    if (read < moves.length) {
      app.notice = t("notice.line", { n: read, move: moves[read].uci });
      // The position that the readable part of the line does not lead to is shown without the line.
      if (position && fen() !== given) load({ start: given, moves: [], ...terms });
    }
    const arrows = readArrows(query.get("arrows") ?? "");
    if (arrows.length) app.game.cursor.annotate(app.game.cursor.note, arrows);
    if (history.state?.game) app.game.restore(history.state.game);
  }
  const tasks = query.getAll("task");
  app.tasks = readTasks(tasks);
  if (app.tasks.length < tasks.length) app.notice = t("notice.tasks", { n: tasks.length - app.tasks.length });
  app.game.done = [];
  app.tab = query.get("view") || (isFree && !app.broken ? "home" : "position");
  app.wanted = { overlay: query.get("overlay") };
}

let jumping = true;
export const jump = () => (jumping = true);

/** What an entry of the browser's history keeps beside the address: the owner of the board, the game with its comments,
 * tags and chosen rules, and the options of an analysis that the user has switched on. */
const state = () => ({ owner: app.controller?.identity() ?? null, game: app.game.snapshot(), analysis: options() });

/** Writes the address, but keeps an invalid one. The browser's back button undoes a jump to another position. */
export function write() {
  if (app.broken || app.problem || app.probe?.pending || app.tab === "home") return;
  const address = toAddress();
  const isSame = address === location.pathname + location.search;
  if (isSame && JSON.stringify(state()) === JSON.stringify(history.state)) return;
  if (jumping) push();
  else history.replaceState(state(), "", address);
  jumping = false;
  emit("address");
}

/** Writes the address as a new entry of the browser's history. */
export const push = () => history.pushState(state(), "", toAddress());
export const settled = () => (jumping = false);
