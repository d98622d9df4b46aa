// What the search of results/opening.md says of the moves of the first positions. The scores are loaded when one of
// these positions is shown.

import { legalMoves } from "./movegen.js";
import { during } from "./pending.js";
import { boardOf, play, START } from "./position.js";
import { readRules, spelledOut } from "./ruleset.js";

const RULES = /** @type {Page.Rules} */ (readRules("paper"));
/** The plies after which the moves of a position have scores; a ply changes two squares. */
const PLIES = 2;

/** The positions with scores, in the order of opening.js. */
export function openingPositions() {
  const all = [START];
  for (let ply = 0, level = all; ply < PLIES; ply++) {
    level = level.flatMap((fen) => legalMoves(fen, RULES).map(({ uci }) => play(fen, uci)));
    all.push(...level);
  }
  return all;
}

/** @param {string} fen */
function isNearStart(fen) {
  const [now, start] = [fen, START].map((position) => boardOf(position).squares);
  return now.filter((piece, square) => piece !== start[square]).length <= 2 * PLIES;
}

/** @type {Map<string, number[]> | null} The scores of the legal moves by position; none if they cannot be loaded. */
let known = null;
let isLoading = false;

/** @param {() => unknown} then */
async function load(then) {
  if (isLoading) return;
  isLoading = true;
  const loaded = await during("the opening", import("./opening.js")).catch(() => null);
  const lists = loaded?.default.split(";").map((list) => list.split(",").map(Number)) ?? [];
  const positions = openingPositions();
  known = new Map(lists.map((list, i) => [positions[i], list]));
  then();
}

/**
 * How much each move is worse than the best one, in cp, of which a cat is worth 100; null for a position without
 * scores, and undefined while they are loaded.
 * @param {string} fen
 * @param {string} rules spelled out
 * @param {() => unknown} again is called when the scores have been loaded
 */
export function openingCosts(fen, rules, again) {
  if (rules !== spelledOut(RULES) || !isNearStart(fen)) return null;
  if (!known) return void load(again);
  const scores = known.get(fen);
  if (!scores) return null;
  const best = Math.max(...scores);
  return new Map(legalMoves(fen, RULES).map(({ uci }, i) => [uci, best - scores[i]]));
}
