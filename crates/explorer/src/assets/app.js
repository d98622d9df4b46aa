// The state of the page, and the actions on it. Panels listen for events and never call one another.

import { get, limitParam } from "./api.js";
import { isCompetition } from "./competition.js";
import { Game } from "./game.js";
import { whyIllegal } from "./movegen.js";
import { line, SLOW } from "./owner.js";
import { count, material, NO_CAPTURE_LIMIT, withClock } from "./position.js";
import { spelledOut } from "./ruleset.js";
import { evaluationText } from "./score.js";
import { gameStatus } from "./status.js";
import { announce, ask, errorText, inTurn, isTemporary, percent, result, t, toast } from "./ui.js";

/** @type {Map<string, Function[]>} */
const listeners = new Map();

/** @type {Omit<Page.App, "board">} The board is made when the page starts. */
const state = {
  game: new Game(),
  get rules() {
    return this.game.rules;
  },
  get spelled() {
    return spelledOut(rules());
  },
  get chosen() {
    return this.game.chosen;
  },
  broken: null,
  tab: "position",
  controller: null,
  finished: null,
  evaluation: { state: "idle", last: null, lines: [], error: null },
  offline: false,
  overlay: null,
  probe: null,
  problem: null,
  editing: false,
  tasks: [],
  largest: 4,
  countable: 0,
  settings: {
    pieces: "animals",
    theme: "auto",
    language: "en",
    unit: "moves",
    flipped: false,
    values: true,
    keys: true,
    sounds: true,
  },
};

/** The state of the page; web/page.d.ts describes every field. */
export const app = /** @type {Page.App} */ (state);

/**
 * Calls a listener at one event or at several.
 * @template {keyof Page.Events} E
 * @param {E | E[]} events
 * @param {(detail: Page.Events[E]) => unknown} listener
 */
export function on(events, listener) {
  for (const event of /** @type {E[]} */ ([events].flat()))
    listeners.set(event, [...(listeners.get(event) ?? []), listener]);
}

/**
 * @template {keyof Page.Events} E
 * @param {E} event
 * @param {Page.Events[E]} [detail]
 */
export const emit = (event, detail) => listeners.get(event)?.forEach((listener) => listener(detail));

export const fen = () => app.game.cursor.fen;
export const turn = () => /** @type {Api.Turn} */ (fen().slice(-1));
export const params = (/** @type {Page.Query} */ more = {}) => ({ fen: fen(), rules: app.rules, ...more });

/** Every option of the rules with its value. */
export const rules = () => app.game.options();

/** The state of the game after a node, with its history. @param {GameNode} [node] */
export const status = (node = app.game.cursor) => gameStatus(node, rules(), app.game.limit);

/**
 * The game up to a node as parameters of the API, from the last capture on: earlier positions cannot occur again. Rules
 * of competition need all moves.
 * @param {GameNode} [node]
 */
export function gameParams(node = app.game.cursor) {
  const moves = [];
  let first = node;
  const whole = isCompetition(rules());
  for (; first.parent && (whole || first.clock > 0); first = first.parent) moves.unshift(first.uci);
  return {
    fen: withClock(first.fen, first.clock),
    rules: app.rules,
    no_capture_limit: limitParam(app.game.limit),
    moves: moves.join(","),
  };
}

/**
 * The answer to a probe that the page computes: the legal moves and the end of the game, but no value.
 * @returns {Page.Probe}
 */
function localProbe() {
  const { moves, over } = status();
  return {
    fen: fen(),
    rules: spelledOut(rules()),
    turn: turn() === "w" ? "white" : "black",
    pieces: pieces(),
    over,
    material: material(fen()),
    known: false,
    value: null,
    moves,
    other_side: null,
    zugzwang: null,
    local: true,
  };
}

/**
 * The answer of a probe, which knows the position only, in the game: with its end by repetition or by the no-capture
 * limit, and without moves that would repeat a position if the rules forbid it.
 * @param {Page.Probe} probe
 * @param {GameNode} node
 * @returns {Page.Probe}
 */
function inGame(probe, node) {
  const { over, moves } = status(node);
  if (over) return { ...probe, over: probe.over ?? over, moves: [] };
  const legal = new Set(moves.map((move) => move.uci));
  const left = (probe.moves ?? []).filter((move) => legal.has(move.uci));
  if (left.length === probe.moves?.length) return probe;
  const keeps = left.filter((move) => move.value?.wdl === probe.value?.wdl).length;
  return { ...probe, moves: left, keeps_result: keeps };
}

/**
 * A probe in a game that the no-capture limit may draw before the lines of the tables end: with the exact results at
 * the clock, and without the distances that do not count there.
 * @param {Page.Probe} probe
 * @param {GameNode} node
 * @param {AbortSignal} signal
 * @returns {Promise<Page.Probe>}
 */
async function withinLimit(probe, node, signal) {
  const { clock, limit } = status(node);
  if (limit === null) return probe;
  // After a capture the whole limit is left.
  /** @type {(of: { value: Page.Value | null, captures?: string | null }) => boolean} */
  const isLate = ({ value, captures }) => (value?.dtw ?? 0) > (captures ? limit + 1 : limit - clock);
  const all = new Map((probe.moves ?? []).map((move) => [move.uci, move]));
  if (probe.over || ![probe, ...all.values()].some(isLate)) return probe;
  const exact = await get("dtz", gameParams(node), { signal });
  if (!exact.value) return probe;
  /** @type {<T extends { value: Page.Value | null }>(of: T, at: Api.ValueAtClock) => T} */
  const at = (of, { wdl, category }) =>
    of.value && isLate(of) ? { ...of, value: { ...of.value, wdl, category, dtw: null } } : of;
  const moves = exact.moves.flatMap(({ uci, value }) => {
    const move = all.get(uci);
    return move ? [at(move, value)] : [];
  });
  const keeps = moves.filter(({ value }) => value?.wdl === exact.value?.wdl).length;
  return { ...at(probe, exact.value), moves, keeps_result: keeps, other_side: null, zugzwang: null };
}

/**
 * Hands the board to a controller, or back to the line. Nothing that was asked before changes the board any longer.
 * @param {Page.Controller | null} controller
 */
export function control(controller) {
  const before = app.controller;
  line.drop();
  app.finished = null;
  if (before === controller) return;
  app.controller = controller;
  before?.drop();
  before?.leave();
  emit("controller");
}

/** Asks the user before a game that has begun is left; returns whether the board may show something else. */
export async function mayLeave() {
  const { controller } = app;
  if (!controller?.isRunning?.()) return true;
  return ask(t(controller.setup?.trainer ? "leave.endgame" : "leave.game"), t("match.leave"));
}

/**
 * Asks for something to put on the board. A game on it is left first. The promise is settled only if nothing else was
 * asked for, put on the board or opened meanwhile.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} make
 * @returns {Promise<T>}
 */
export async function want(make) {
  if (!(await mayLeave())) return new Promise(() => undefined);
  // A game goes on by itself.
  if (app.controller?.isRunning) {
    control(null);
    refresh({ quiet: true });
  }
  return line.ask(make, sayWait);
}

const sayWait = () => toast(t("working"));

/** @param {boolean} offline */
export function setOffline(offline) {
  if (app.offline === offline) return;
  app.offline = offline;
  emit("connection");
}

/** @type {AbortController | null} */
let pendingRequest = null;

/** Shows the position at the cursor. `quiet` announces nothing to the screen reader. */
export async function refresh({ quiet = false } = {}) {
  pendingRequest?.abort();
  const mine = (pendingRequest = new AbortController());
  const node = app.game.cursor;
  app.probe = null;
  app.problem = null;
  emit("position");
  // By the next microtask all listeners are registered, as they are when an answer arrives.
  await null;
  if (mine.signal.aborted) return;
  if (app.broken) app.problem = app.broken;
  else if (app.controller) app.probe = localProbe();
  else {
    // What the tables say about the position before is not true of this one.
    const slow = setTimeout(() => {
      if (mine.signal.aborted) return;
      app.probe = { ...localProbe(), pending: true };
      emit("probe");
    }, SLOW);
    try {
      const found = inGame(await get("probe", params(), { signal: mine.signal }), node);
      const probe = await withinLimit(found, node, mine.signal);
      if (mine.signal.aborted) return;
      setOffline(false);
      app.probe = probe;
      storeProbe(node, probe);
    } catch (error) {
      if (error.name === "AbortError" || mine.signal.aborted) return;
      if (error.code === "offline") setOffline(true);
      if (isTemporary(error)) app.probe = localProbe();
      else [app.probe, app.problem] = [null, error];
    } finally {
      clearTimeout(slow);
    }
  }
  emit("probe");
  const said = app.problem ? errorText(app.problem) : app.probe && inTurn([node.san, sentence(app.probe)]);
  if (said && !quiet && !app.broken) announce(said);
}

/**
 * Stores the tables' answer in the node of the position: value, moves that keep the result, legal moves.
 * @param {GameNode} node
 * @param {Page.Probe} probe
 */
export function storeProbe(node, probe) {
  const { rules, known, value, over, keeps_result: keeps, moves } = inGame(probe, node);
  node.info = known && !over ? { rules, value, keeps, legal: moves?.length } : { rules, value: null };
}

/**
 * The tables' answer for the position of a node under the rules of the game; null before a request.
 * @param {GameNode | null} [node]
 */
export const infoOf = (node) => (node?.info?.rules === app.spelled ? node.info : null);

/**
 * The result, or the engine's evaluation, in a sentence; during a game or an exercise the controller's headline.
 * @param {Page.Probe} probe
 */
export function sentence(probe) {
  if (app.controller) return app.controller.headline();
  if (isFinished()) return overText(/** @type {Page.Result} */ (app.finished?.result));
  if (probe.over) return overText(probe.over);
  if (probe.known && probe.value) return result(probe.value, probe.fen.slice(-1));
  if (probe.pending) return t("working");
  return evaluationText(app.evaluation, probe.fen.slice(-1), app.offline);
}

/** Whether a game has ended at the position, maybe not by the rules alone. */
export const isFinished = () => app.finished !== null && app.finished.node === app.game.cursor;

/** Whether the tables contain the position with its distance, not only with its result. */
export const isExact = () => {
  const { known, value } = app.probe ?? {};
  return Boolean(known && value && (value.wdl === "draw" || value.dtw !== null));
};

const OVER = ["den", "no_pieces", "no_move", "loop", "resignation", "time"];
const DRAWN = ["no_move", "repetition", "no_capture", "move_limit", "agreement"];

/** How a game has ended, in a sentence. @param {Page.Result} over */
export function overText({ winner, reason }) {
  const draw = () => t(DRAWN.includes(reason) ? `over.draw.${reason}` : "over.draw", { n: app.game.limit });
  if (!winner) return draw();
  const isDraw = reason === "no_move" ? rules()["no-move"] === "draw" : DRAWN.includes(reason);
  if (isDraw) return t("over.judged", { side: t(winner), draw: draw() });
  const other = winner === "white" ? "black" : "white";
  return t(OVER.includes(reason) ? `over.${reason}` : "over.won", { side: t(winner), other: t(other) });
}

/**
 * Why a move is not legal in the position on the board, in a sentence.
 * @param {string} uci
 * @param {string} [move] the move as the user has written it
 */
export const illegal = (uci, move = uci) => t(`illegal.${whyIllegal(fen(), uci, rules()) ?? "history"}`, { move });

/** Plays a move on the board: as the controller decides, or any legal move of an analysis. @param {string} uci */
export function play(uci) {
  if (app.controller) return app.controller.play(uci);
  const { moves, over } = status();
  if (!moves.some((move) => move.uci === uci)) return toast(over ? overText(over) : illegal(uci));
  control(null);
  app.game.play(uci);
  return refresh();
}

/** The moves that the user may play on the board; with values where they are known and may be shown. */
export function playable() {
  if (app.controller) return app.controller.moves();
  return app.probe?.moves ?? (app.broken ? [] : status().moves);
}

/**
 * Shows a position without a history, unless a game is on the board that the user does not leave.
 * @param {string} position
 * @param {{ from?: string, rules?: string }} [options] `rules` are those of the board if there are none
 */
export async function setPosition(position, { from = "jump", rules = app.rules } = {}) {
  if (!(await mayLeave())) return undefined;
  app.broken = null;
  control(null);
  const isOther = rules !== app.rules;
  app.game.reset(position, { rules });
  if (isOther) emit("rules");
  if (from === "jump") emit("jump");
  return refresh();
}

/** @param {GameNode} node */
export function go(node) {
  app.game.go(node);
  return refresh();
}

/** @type {(ply: number, options?: { quiet?: boolean }) => Promise<void>} */
export function goTo(ply, options) {
  app.game.goTo(ply);
  return refresh(options);
}

/** @param {number} by */
export function step(by) {
  return goTo(app.game.cursor.ply + by);
}

/**
 * Loads a game with its variations from an address, a file or a review: moves as text, or as `{uci, variations}`.
 * Stops at the first entry that is not a legal move; returns how many moves of the main line were read.
 * @param {Page.LoadedGame} game
 * @param {number} [at] the ply to show
 */
export function load(
  { start, moves, rules = app.rules, chosen = rules, limit = NO_CAPTURE_LIMIT, tags, comment, ending = [] },
  at = 0,
) {
  app.broken = null;
  control(null);
  app.game.reset(start, { rules, chosen, limit, tags, comment });
  const read = app.game.read(app.game.root, moves);
  app.game.line()[read].ending = ending;
  app.game.goTo(at);
  emit("jump");
  emit("rules");
  return read;
}

/**
 * Shows a game, unless a game is on the board that the user does not leave; returns whether it is shown.
 * @param {Page.LoadedGame} game
 * @param {number} [at] the ply to show
 */
export async function show(game, at) {
  if (!(await mayLeave())) return false;
  load(game, at);
  refresh();
  return true;
}

/** Continues the line on the board under other rules. A game or an exercise ends. @param {string} rules */
export async function useRules(rules) {
  // The list of rules shows the rules of the game again.
  if (!(await mayLeave())) return emit("rules");
  control(null);
  const removed = app.game.changeRules(rules);
  app.notice = removed ? t("notice.rules", { move: removed.san }) : "";
  emit("rules");
  return refresh();
}

/** Undoes the last change of the board, or does it again. A game and an exercise undo in their own way. */
export function undo(how = /** @type {"undo" | "redo"} */ ("undo")) {
  if (app.controller) return how === "undo" ? app.controller.undo() : undefined;
  const { rules } = app;
  if (!app.game[how]()) return undefined;
  control(null);
  if (app.rules !== rules) emit("rules");
  emit("tree");
  return refresh();
}

/**
 * Adds moves after a position of the line, which the cursor keeps, and reports their number.
 * @param {string[]} moves
 * @param {GameNode} [start]
 */
export function append(moves, start = app.game.cursor) {
  const nodes = app.game.append(moves, start);
  emit("tree");
  announce(t("line.added", { n: nodes.length }));
  return nodes;
}

/** Adds the engine's line after the position, if the engine has one. */
function addEngineLine() {
  const moves = app.evaluation.last?.pv ?? [];
  return moves.length ? append(moves.map((move) => move.uci)) : toast(t("best.unknown"));
}

/** The most moves of a line. */
const LONGEST_LINE = 1000;

/**
 * The tables' line from a position to the end of the game. The server sends a line that takes long in parts.
 * @param {string} position
 * @param {AbortSignal} signal
 */
async function wholeLine(position, signal) {
  /** @type {Api.LineEntry[]} */
  const whole = [];
  const { rules } = app;
  for (;;) {
    const { line, end } = await get("mainline", { fen: whole.at(-1)?.fen ?? position, rules }, { signal });
    whole.push(...line);
    if (end !== "limit" || !line.length || whole.length >= LONGEST_LINE) return whole;
  }
}

/** Adds the tables' line after the position. */
async function addTableLine() {
  const start = app.game.cursor;
  try {
    const found = await line.ask((signal) => wholeLine(start.fen, signal), sayWait);
    const nodes = append(
      found.map((move) => move.uci),
      start,
    );
    let before = start;
    nodes.forEach((node, i) => {
      const { value, keeps_result: keeps, legal } = found[i];
      if (!infoOf(before)) before.info = { rules: app.spelled, value, keeps, legal };
      before = node;
    });
    emit("tree");
    return nodes;
  } catch (error) {
    toast(errorText(error));
  }
}

/** Adds the best line after the position, from the tables or else from the engine, and reports its length. */
export async function addBestLine() {
  if (app.controller || app.probe?.over) return undefined;
  return isExact() ? addTableLine() : addEngineLine();
}

/** Shows a position of the tables with its best line. @param {string} position */
export async function showLine(position) {
  if (await show({ start: position, moves: [], chosen: app.chosen })) await addTableLine();
}

/** Shows a random position, under the rules of the board if the query names none. @param {Page.Query} query */
export async function randomPosition(query) {
  const asked = { rules: app.rules, seed: Math.floor(Math.random() * 2 ** 32), ...query };
  // A large table is searched in parts, of a second each.
  const find = async (/** @type {AbortSignal} */ signal) => {
    for (let from = 0; ;) {
      const { fen: found, next, share } = await get("random", { ...asked, from }, { keep: false, signal });
      if (found) return found;
      toast(t("random.searching", { share: percent(share ?? 0) }));
      from = next ?? 0;
    }
  };
  try {
    await setPosition(await want(find), { rules: String(asked.rules) });
  } catch (error) {
    toast(error.code === "not_found" ? t("random.none") : errorText(error));
  }
}

export const pieces = () => count(fen());
