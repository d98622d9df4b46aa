// A game reviewed in parts, so that progress can be shown and the review can be stopped.

import { limitParam, post } from "./api.js";
import { play, splitClock } from "./position.js";
import { whiteShare } from "./score.js";

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
  /** @type {Page.Reviewed[]} */
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

/**
 * The accuracy of a reviewed move, from 0 to 1, by the share of the evaluation that it gives away: the formula of
 * lichess.org/page/accuracy. Null where the rules alone decide, so that no better move exists.
 * @param {{ color: string, score_before: Page.Score | null, score_after: Page.Score | null }} move
 */
export function accuracyOf({ color, score_before: best, score_after: got }) {
  if (!best || !got) return null;
  // For the other side the shares are complements, and their difference has the other sign.
  const lost = (whiteShare(best, color[0]) - whiteShare(got, color[0])) * (color === "white" ? 1 : -1);
  return Math.min(1, Math.max(0, (103.1668 * Math.exp(-4.354 * lost) - 3.1669) / 100));
}

/**
 * The mean accuracy of a side's moves; null if none of them has one.
 * @param {Page.Reviewed[]} moves
 * @param {string} color
 */
export function sideAccuracy(moves, color) {
  const values = moves.filter((move) => move.color === color).map(accuracyOf);
  const known = values.filter((value) => value !== null);
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
}
