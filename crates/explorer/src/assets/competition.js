// The rules of competition: against loops of one side, and on draws. A twin of the library's `game/competition.rs`.

import { legalMoves } from "./movegen.js";
import { boardOf, colorOf, ground, index, isWhite, otherTurn, pass } from "./position.js";

/**
 * The last moves of the side that moved into a node, the last first.
 * @param {GameNode | null} node
 * @param {number} most
 */
function movesBack(node, most) {
  const moves = [];
  for (let n = node; n?.parent && moves.length < most; n = n.parent.parent)
    moves.push({ animal: n.san?.[0] ?? "", to: n.uci?.slice(2) ?? "" });
  return moves;
}

const turnOf = (/** @type {GameNode} */ node) => /** @type {Api.Turn} */ (node.fen.slice(-1));
const inTrap = (/** @type {{ to: string }} */ { to }) => ground(index(to)).kind === "trap";

/** @type {(node: GameNode, move: Page.Move, rules: Page.Rules) => boolean} */
function breaks73(node, { san, from, to }, rules) {
  const own = movesBack(node.parent, 7).filter(({ animal }) => animal === san[0]);
  const isChased = () => legalMoves(pass(node.fen), rules).some((reply) => reply.to === from);
  return own.filter((move) => move.to === to).length >= 3 && !own.some(inTrap) && !isChased();
}

/** @type {(node: GameNode, move: Page.Move) => boolean} */
function breaks175(node, { san, to }) {
  const own = movesBack(node.parent, 17);
  const squares = new Set(own.map((move) => move.to));
  const one = own.length === 17 && own.every((move) => move.animal === san[0] && !inTrap(move));
  return one && squares.size <= 5 && squares.has(to);
}

/**
 * Whether a rule against loops forbids a move, which is legal otherwise.
 * @param {GameNode} node
 * @param {Page.Move} move
 * @param {Page.Rules} rules
 */
export const isForbidden = (node, move, rules) =>
  (["7-3", "servers"].includes(rules.loop) && breaks73(node, move, rules)) ||
  (["17-5", "servers"].includes(rules.loop) && breaks175(node, move));

/** The entries that lose, and the moves in a row that count. */
const LOSING = /** @type {Record<string, number[]>} */ ({ "7-3-loses": [4, 8], "5-2": [3, 6], "2-1": [2, 3] });

/**
 * The side for which a rule against loops has decided the game by the move into a node.
 * @param {GameNode} node
 * @param {Page.Rules} rules
 */
export function winnerByLoop(node, rules) {
  const turn = turnOf(node);
  if (rules.loop === "repeat-end") {
    let earlier = /** @type {GameNode | null} */ (node);
    for (let back = 2; back <= 16 && earlier; back += 2) {
      earlier = earlier.parent?.parent ?? null;
      // How the first position came about is unknown.
      if (earlier?.parent && earlier.fen === node.fen)
        return colorOf(earlier.san?.[0] === node.san?.[0] ? turn : otherTurn(turn));
    }
    return null;
  }
  if (!node.parent || !LOSING[rules.loop]) return null;
  const [entries, most] = LOSING[rules.loop];
  const own = movesBack(node, most);
  const [last] = own;
  const isOwnTrap = (/** @type {{ to: string }} */ move) =>
    inTrap(move) && ground(index(move.to)).owner === otherTurn(turn);
  const other = own.findIndex((move) => move.animal !== last.animal || isOwnTrap(move));
  const inRow = other < 0 ? own : own.slice(0, other);
  return inRow.filter((move) => move.to === last.to).length >= entries ? colorOf(turn) : null;
}

const WEIGHTS = /** @type {Record<string, number>} */ ({ R: 3, C: 1, W: 1, D: 1, P: 1, T: 2, L: 4, E: 5 });

/**
 * The side that a draw in a position goes to; null if it is a draw.
 * @param {string} fen
 * @param {Page.Rules} rules
 */
export function winnerOfDraw(fen, rules) {
  if (rules.judge === "none") return null;
  let lead = 0;
  for (const piece of boardOf(fen).squares) {
    const weight = !piece ? 0 : rules.judge === "number" ? 1 : WEIGHTS[piece.toUpperCase()];
    lead += piece && isWhite(piece) ? weight : -weight;
  }
  return lead ? (lead > 0 ? "white" : "black") : null;
}

/**
 * Whether a game depends on all its moves: tables know neither loops, nor judged draws, nor a limit of moves.
 * @param {Page.Rules} rules
 */
export const isCompetition = (rules) => ["loop", "judge", "move-limit"].some((key) => rules[key] !== "none");
