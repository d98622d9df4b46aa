// A game reviewed in parts, so that progress can be shown and the review can be stopped.

import { limitParam, post } from "./api.js";
import { play, splitClock } from "./position.js";

/** Moves of one request. */
const PART = 6;

/**
 * Reviews the moves of a game: a list of the server's entries, each with `before`, the FEN of the position before it.
 * Every part is sent with all moves before it, since repetitions and the no-capture limit depend on them.
 * @param {{start: string, moves: string[], rules: string, limit: number | null}} game
 * @param {{signal?: AbortSignal, progress?: (done: number, of: number) => void, skip?: number}} [options] `skip` is the
 *   number of first moves that are not reviewed
 */
export async function reviewGame({ start, moves, rules, limit }, { signal, progress, skip = 0 } = {}) {
  const reviewed = [];
  let before = moves.slice(0, skip).reduce(play, splitClock(start).position);
  for (let at = skip; at < moves.length; at += PART) {
    progress?.(at, moves.length);
    const game = { fen: start, moves: moves.slice(0, at + PART), skip: at, rules, no_capture_limit: limitParam(limit) };
    for (const move of (await post("review", game, { signal })).moves) {
      reviewed.push({ ...move, before });
      before = move.fen;
    }
  }
  progress?.(moves.length, moves.length);
  return reviewed;
}
