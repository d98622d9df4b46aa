// A game reviewed in parts, so that progress can be shown and the review can be stopped.

import { post } from "./api.js";
import { boardOf, play, splitClock } from "./position.js";

/** Moves of one request. */
const PART = 6;

/**
 * The FEN of a position with the plies since the last capture.
 * @param {string} fen
 * @param {number} clock
 */
const withClock = (fen, clock) => (clock ? `${fen} ${clock}` : fen);
/**
 * @param {string} fen
 */
const pieces = (fen) => boardOf(fen).squares.filter(Boolean).length;

/**
 * The FENs, with clocks, of the positions before each move.
 * @param {string} start
 * @param {string[]} moves
 */
function positions(start, moves) {
  let { position, clock } = splitClock(start);
  return moves.map((/** @type {string} */ uci) => {
    const before = withClock(position, clock);
    const next = play(position, uci);
    clock = pieces(next) < pieces(position) ? 0 : clock + 1;
    position = next;
    return before;
  });
}

/**
 * Reviews every move: a list of the server's entries, each with `before`, the FEN of the position before it.
 * @param {{start: string, moves: string[], rules: string}} game
 * @param {{signal?: AbortSignal, progress?: (done: number, of: number) => void}} options
 */
export async function reviewGame({ start, moves, rules }, { signal, progress } = {}) {
  const before = positions(start, moves);
  const reviewed = [];
  for (let at = 0; at < moves.length; at += PART) {
    progress?.(at, moves.length);
    const part = moves.slice(at, at + PART);
    const answer = await post("review", { fen: before[at], moves: part, rules }, { signal });
    reviewed.push(
      ...answer.moves.map((/** @type {any} */ move, /** @type {number} */ i) => ({
        ...move,
        before: splitClock(before[at + i]).position,
      })),
    );
  }
  progress?.(moves.length, moves.length);
  return reviewed;
}
