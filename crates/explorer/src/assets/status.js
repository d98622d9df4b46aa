// A game's state with its history: repetition, plies without a capture, captured pieces, and how the game has ended.

import { legalMoves, positionEnd } from "./movegen.js";
import { boardOf, isWhite, play } from "./position.js";

/** Plies without a capture after which a game is drawn. */
export const NO_CAPTURE_LIMIT = 100;

/**
 * How often a position may occur before the game is drawn; null if repetition does not end a game.
 * @param {Page.Rules} rules
 */
export const repetitionLimit = (rules) => ({ threefold: 3, twofold: 2 })[rules.repetition] ?? null;

/**
 * @param {GameNode} node
 */
const pieces = (node) => boardOf(node.fen).squares.filter(Boolean);

/**
 * The nodes from the last capture to `node`, both included, and the halfmove clock that they begin with.
 * @param {GameNode} node
 * @param {number} startClock
 */
function sinceCapture(node, startClock) {
  const path = [node];
  let n = node;
  for (; n.parent && pieces(n.parent).length === pieces(n).length; n = n.parent) path.unshift(n.parent);
  return { path, clock: (n.parent ? 0 : startClock) + path.length - 1 };
}

/**
 * @param {GameNode} node
 * @param {Record<string, string>} rules every option with its value
 * @param {number} [startClock] the halfmove clock of the first position
 */
export function gameStatus(node, rules, startClock = 0) {
  const { path, clock } = sinceCapture(node, startClock);
  const occurrences = path.filter((n) => n.fen === node.fen).length;
  const limit = repetitionLimit(rules);
  let moves = legalMoves(node.fen, rules);
  if (rules.repetition === "illegal") {
    const seen = new Set(path.map((n) => n.fen));
    moves = moves.filter((move) => move.captures || !seen.has(play(node.fen, move.uci)));
  }
  let over = positionEnd(node.fen, rules);
  if (!over && limit && occurrences >= limit) over = { winner: null, reason: "repetition" };
  if (!over && !moves.length) {
    const other = node.fen.endsWith("w") ? "black" : "white";
    over = { winner: rules["no-move"] === "loss" ? other : null, reason: "no_move" };
  }
  if (!over && clock >= NO_CAPTURE_LIMIT) over = { winner: null, reason: "no_capture" };
  return { clock, occurrences, repetitionLimit: limit, moves: over ? [] : moves, over };
}

/**
 * The pieces that each side has lost between two positions, strongest first.
 * @param {string} startFen
 * @param {string} fen
 */
export function captured(startFen, fen) {
  const left = boardOf(fen).squares.filter(Boolean);
  const order = "ELTPDWCR";
  const lost = boardOf(startFen).squares.flatMap((piece) => (piece && !left.includes(piece) ? [piece] : []));
  lost.sort((a, b) => order.indexOf(a.toUpperCase()) - order.indexOf(b.toUpperCase()));
  return { white: lost.filter(isWhite), black: lost.filter((piece) => !isWhite(piece)) };
}
