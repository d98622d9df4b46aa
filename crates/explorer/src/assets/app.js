// What the page is showing, and what everybody does with it. Panels listen for events and never call one another.

import { get } from "./api.js";
import { Game } from "./game.js";
import { count, couldPlay, START } from "./position.js";
import { errorText, say, t, toast, result } from "./ui.js";

const listeners = new Map();

export const app = {
  game: new Game(START),
  /** As they are written in the address: a preset, or options. */
  rules: "paper",
  /** The same with every option, as the server spells it. */
  spelled: "",
  /** What is wrong with the address (`message`), and the FEN in it; null once a position is shown. */
  broken: null,
  tab: "position",
  overlay: null,
  /** The answer of `probe` to the position on the board, or null while it is awaited. */
  probe: null,
  problem: null,
  editing: false,
  /** Pieces of the largest tables. */
  largest: 4,
  settings: { pieces: "animals", theme: "auto", language: "en", flipped: false, values: true, keys: true },
};

export const on = (event, listener) => listeners.set(event, [...(listeners.get(event) ?? []), listener]);
export const emit = (event, detail) => listeners.get(event)?.forEach((listener) => listener(detail));

export const fen = () => app.game.cursor.fen;
export const turn = () => fen().slice(-1);
export const params = (more = {}) => ({ fen: fen(), rules: app.rules, ...more });

let asking = null;

/** Shows the position that the cursor is on. `quiet` leaves the screen reader alone. */
export async function refresh({ quiet = false } = {}) {
  asking?.abort();
  const mine = (asking = new AbortController());
  const node = app.game.cursor;
  app.probe = null;
  app.problem = null;
  emit("position");
  if (app.broken) {
    app.problem = app.broken;
    // Listeners are built by then, as when an answer arrives.
    await null;
    return emit("probe");
  }
  try {
    const probe = await get("probe", params(), { signal: mine.signal });
    if (mine.signal.aborted) return;
    app.probe = probe;
    if (app.spelled !== probe.rules) {
      app.spelled = probe.rules;
      emit("spelled");
    }
    learn(node, probe);
    emit("probe");
    if (!quiet) say(spoken(probe));
  } catch (error) {
    if (error.name === "AbortError" || mine.signal.aborted) return;
    app.problem = error;
    emit("probe");
    if (!quiet) say(errorText(error));
  }
}

/** Stores in a node what the tables know of its position: value, moves that keep the result, legal moves. */
export function learn(node, probe) {
  node.info = probe.known && !probe.over ? { value: probe.value, keeps: probe.keeps_result, legal: probe.moves?.length ?? 0 } : { value: null, over: probe.over };
}

function spoken(probe) {
  const last = app.game.cursor.san;
  return [last, sentence(probe)].filter(Boolean).join(". ");
}

/** Who wins, or has won, or why that is not known. */
export function sentence(probe) {
  if (probe.over) return overText(probe.over);
  if (probe.known && probe.value) return result(probe.value, probe.fen.slice(-1));
  return t("result.unknown", { n: probe.pieces });
}

export function overText(over) {
  if (!over.winner) return t("over.draw");
  return t(over.reason === "den" ? "over.den" : "over.pieces", { side: t(over.winner) });
}

export function play(uci) {
  if (!app.probe?.moves?.some((move) => move.uci === uci)) return toast(t("move.illegal", { move: uci }));
  app.game.play(uci);
  emit("played");
  return refresh();
}

export function setPosition(position, { from = "jump" } = {}) {
  app.broken = null;
  app.game.reset(position);
  if (from === "jump") emit("jump");
  return refresh();
}

export function go(node) {
  app.game.go(node);
  return refresh();
}

export function goTo(ply, options) {
  app.game.goTo(ply);
  return refresh(options);
}

export function step(by) {
  return goTo(app.game.cursor.ply + by);
}

/** Takes a line over, as an address or a review gives it; stops at the first move that cannot be one. */
export function load(position, moves, at = null) {
  app.broken = null;
  app.game.remember();
  const fresh = new Game(position);
  let node = fresh.root;
  for (const uci of moves) {
    if (!couldPlay(node.fen, uci)) break;
    node = fresh.child(node, uci);
  }
  app.game.root = app.game.cursor = fresh.root;
  app.game.clock = fresh.clock;
  if (at !== null) app.game.goTo(at);
  emit("jump");
}

/** Adds the best line after the position, and says how long it is. */
export async function addBestLine() {
  const start = app.game.cursor;
  try {
    const { line } = await get("mainline", params({ max: 300 }));
    if (app.game.cursor !== start) return;
    const nodes = app.game.append(line.map((move) => move.uci));
    let before = start;
    nodes.forEach((node, i) => {
      before.info ??= { value: line[i].value, keeps: line[i].keeps_result, legal: line[i].legal };
      before = node;
    });
    emit("tree");
    say(t("line.added", { n: nodes.length }));
    return nodes;
  } catch (error) {
    toast(errorText(error));
  }
}

export async function randomPosition(query) {
  try {
    const { fen: found } = await get("random", { rules: app.rules, seed: Math.floor(Math.random() * 2 ** 32), ...query }, { keep: false });
    await setPosition(found);
  } catch (error) {
    toast(error.code === "not_found" ? t("random.none") : errorText(error));
  }
}

export const pieces = () => count(fen());
