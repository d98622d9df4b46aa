// A game's state with its history: repetition, loops, plies without a capture, captured pieces, and how the game ended.

import { isForbidden, winnerByLoop, winnerOfDraw } from "./competition.js";
import { legalMoves, won } from "./movegen.js";
import { boardOf, isWhite, PIECES, play } from "./position.js";

/**
 * How often a position may occur before the game is drawn; null if repetition does not end a game.
 * @param {Page.Rules} rules
 */
export const repetitionLimit = (rules) => ({ threefold: 3, twofold: 2 })[rules.repetition] ?? null;

/** The positions since the last capture, from that of `node` back. @param {GameNode} node */
function sinceCapture(node) {
  const fens = [node.fen];
  for (let n = node; n.parent && n.clock > 0; n = n.parent) fens.push(n.parent.fen);
  return fens;
}

/** The moves of a game in plies, counted as players do. @param {number} plies */
export const fullMoves = (plies) => Math.ceil(plies / 2);

/**
 * The legal moves of a game that may go on after a draw by repetition or by a limit.
 * @param {GameNode} node
 * @param {Page.Rules} rules every option with its value
 */
export function movesHere(node, rules) {
  const moves = legalMoves(node.fen, rules).filter((move) => !isForbidden(node, move, rules));
  if (rules.repetition !== "illegal") return moves;
  const seen = new Set(sinceCapture(node));
  return moves.filter((move) => move.captures || !seen.has(play(node.fen, move.uci)));
}

/**
 * @param {GameNode} node
 * @param {Page.Rules} rules every option with its value
 * @param {number | null} limit the plies without a capture that draw the game; null for no limit
 */
export function gameStatus(node, rules, limit) {
  const occurrences = sinceCapture(node).filter((fen) => fen === node.fen).length;
  const most = repetitionLimit(rules);
  const moves = movesHere(node, rules);
  const drawn = (/** @type {string} */ reason) => ({ winner: winnerOfDraw(node.fen, rules), reason });
  let over = won(node.fen);
  const looped = over ? null : winnerByLoop(node, rules);
  if (looped) over = { winner: looped, reason: "loop" };
  if (!over && most && occurrences >= most) over = drawn("repetition");
  if (!over && !moves.length && boardOf(node.fen).squares.some(Boolean)) {
    const other = node.fen.endsWith("w") ? "black" : "white";
    over = rules["no-move"] === "loss" ? { winner: other, reason: "no_move" } : drawn("no_move");
  }
  if (!over && limit !== null && node.clock >= limit) over = drawn("no_capture");
  if (!over && node.ply >= Number(rules["move-limit"])) over = drawn("move_limit");
  return { clock: node.clock, limit, occurrences, repetitionLimit: most, moves: over ? [] : moves, over };
}

/**
 * The pieces that each side has lost between two positions, strongest first.
 * @param {string} startFen
 * @param {string} fen
 */
export function captured(startFen, fen) {
  const [before, after] = [startFen, fen].map((position) => boardOf(position).squares);
  const lost = PIECES.filter((piece) => before.includes(piece) && !after.includes(piece));
  return { white: lost.filter(isWhite), black: lost.filter((piece) => !isWhite(piece)) };
}
