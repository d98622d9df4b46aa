// The rules of the game: legal moves, why a move is illegal, and how a position ends. A twin of the server's move
// generator, so that the page works when no server responds.

import {
  ANIMALS,
  boardOf,
  colorOf,
  DENS,
  ground,
  index,
  isWater,
  isWhite,
  name,
  otherTurn,
  parse,
  sanOf,
} from "./position.js";
import { LEAPS, OWN_RAT_BLOCKS } from "./rule-options.js";

const STEPS = [7, -7, 1, -1];

/** @returns {Api.Turn} */
const owner = (/** @type {string} */ piece) => (isWhite(piece) ? "w" : "b");

/**
 * The next square in a direction; -1 off the board.
 * @param {number} square
 * @param {number} step
 */
function neighbour(square, step) {
  const to = square + step;
  if (to < 0 || to >= 63) return -1;
  return Math.abs(step) === 1 && Math.floor(to / 7) !== Math.floor(square / 7) ? -1 : to;
}

/**
 * Whether each option that a condition names has one of the values that it lists. No rules meet a missing condition.
 * @param {Page.Condition | undefined} condition
 * @param {Page.Rules} rules
 */
const holds = (condition, rules) =>
  condition !== undefined && Object.entries(condition).every(([key, values]) => values.includes(rules[key]));

/** @type {(letter: string, step: number, rules: Page.Rules) => boolean} */
const leaps = (letter, step, rules) => holds(LEAPS[letter]?.[Math.abs(step) === 7 ? "files" : "ranks"], rules);

/**
 * The first square beyond the lake in a direction, and the water in between.
 * @param {number} square
 * @param {number} step
 */
function acrossWater(square, step) {
  const water = [];
  let to = neighbour(square, step);
  for (; to >= 0 && isWater(to); to = neighbour(to, step)) water.push(to);
  return to >= 0 && water.length ? { to, water } : null;
}

/** @type {(water: number[], squares: (string | null)[], turn: string, rules: Page.Rules) => boolean} */
const isBlocked = (water, squares, turn, rules) =>
  water.some((square) => {
    const piece = squares[square];
    return piece !== null && (owner(piece) !== turn || holds(OWN_RAT_BLOCKS, rules));
  });

/**
 * The reason why the piece on `from` cannot take the piece on `to`: a key of the strings, or null if it can.
 * @param {(string | null)[]} squares
 * @param {number} from
 * @param {number} to
 * @param {Page.Rules} rules
 */
function captureProblem(squares, from, to, rules) {
  const [mover, taken] = [squares[from] ?? "", squares[to] ?? ""];
  const [attacker, victim] = [mover.toUpperCase(), taken.toUpperCase()];
  const turn = owner(mover);
  const [wetFrom, wetTo] = [isWater(from), isWater(to)];
  if (rules.shore === "none" && wetFrom !== wetTo) return "shore";
  if (rules.shore === "no-exit" && wetFrom && !wetTo) return "shore";
  if (rules.shore === "elephant-safe" && wetFrom && !wetTo && victim === "E") return "wetrat";
  const trap = ground(to).kind === "trap" ? ground(to).owner : null;
  if (rules.traps === "sanctuary" && trap && trap !== turn) return "sanctuary";
  if (trap === turn && rules.traps !== "none") return null;
  if (trap && rules.traps === "any") return null;
  if (attacker === "R" && victim === "E") return null;
  if (attacker === "E" && victim === "R") return rules["elephant-takes-rat"] === "yes" ? null : "rat";
  const order = rules["dog-over-wolf"] === "yes" ? ANIMALS : "RCDWPTLE";
  return order.indexOf(attacker) >= order.indexOf(victim) ? null : "stronger";
}

/**
 * The reason why a piece cannot end a move on a square: a key of the strings, or null if it can.
 * @param {(string | null)[]} squares
 * @param {number} from
 * @param {number} to
 * @param {Page.Rules} rules
 */
function targetProblem(squares, from, to, rules) {
  const piece = squares[from] ?? "";
  const { kind, owner: whose } = ground(to);
  if (kind === "water" && piece.toUpperCase() !== "R") return "water";
  if (kind === "den" && whose === owner(piece)) return "ownden";
  const taken = squares[to];
  if (taken === null) return null;
  return owner(taken) === owner(piece) ? "own" : captureProblem(squares, from, to, rules);
}

/**
 * The squares that a piece reaches in one move, before what stands there is considered.
 * @param {(string | null)[]} squares
 * @param {number} from
 * @param {Page.Rules} rules
 */
function reach(squares, from, rules) {
  const letter = (squares[from] ?? "").toUpperCase();
  return STEPS.flatMap((step) => {
    const to = neighbour(from, step);
    if (to < 0) return [];
    const leap = isWater(to) && leaps(letter, step, rules) ? acrossWater(from, step) : null;
    return leap ? [{ to: leap.to, water: leap.water }] : [{ to, water: [] }];
  });
}

/** The winner of a position: "w", "b" or null. @param {{ squares: (string | null)[] }} position */
export function winner({ squares }) {
  const has = (/** @type {Api.Turn} */ turn) => squares.some((piece) => piece && owner(piece) === turn);
  const wins = (/** @type {Api.Turn} */ turn) => {
    const inDen = squares[DENS[otherTurn(turn)]];
    return (inDen && owner(inDen) === turn) || (has(turn) && !has(otherTurn(turn)));
  };
  return wins("w") ? "w" : wins("b") ? "b" : null;
}

/**
 * The legal moves of a position without its history, in the form in which the server lists them, without values.
 * @param {string} fen
 * @param {Record<string, string>} rules every option with its value
 * @returns {(Page.Move & { piece: string, color: string })[]}
 */
export function legalMoves(fen, rules) {
  const board = parse(fen);
  if (!board || winner(board)) return [];
  const { squares, turn } = board;
  return squares.flatMap((piece, from) => {
    if (!piece || owner(piece) !== turn) return [];
    const open = (/** @type {{ to: number, water: number[] }} */ { to, water }) =>
      !isBlocked(water, squares, turn, rules) && !targetProblem(squares, from, to, rules);
    return reach(squares, from, rules)
      .filter(open)
      .map(({ to, water }) => ({
        uci: name(from) + name(to),
        san: sanOf(squares, from, to),
        from: name(from),
        to: name(to),
        piece: piece.toUpperCase(),
        color: colorOf(turn),
        captures: squares[to]?.toUpperCase() ?? null,
        den: to === DENS[otherTurn(turn)],
        leap: water.length > 0,
        value: null,
      }));
  });
}

/**
 * The reason why no way leads from a square to another one. Only a leaper has no way to water beside it.
 * @param {number} from
 * @param {number} to
 */
function unreachable(from, to) {
  const files = Math.abs((from % 7) - (to % 7));
  const ranks = Math.abs(Math.floor(from / 7) - Math.floor(to / 7));
  if (files + ranks === 1) return "water";
  return files === 1 && ranks === 1 ? "diagonal" : "far";
}

/**
 * The reason why a piece of the side to move cannot go between two squares: a key of the strings, or null if it can.
 * @param {string} fen
 * @param {string} uci
 * @param {Page.Rules} rules
 */
export function whyIllegal(fen, uci, rules) {
  const { squares, turn } = boardOf(fen);
  const [from, to] = [index(uci.slice(0, 2)), index(uci.slice(2, 4))];
  if (from === to || !squares[from] || owner(squares[from]) !== turn) return "nopiece";
  const way = reach(squares, from, rules).find((target) => target.to === to);
  if (!way) return unreachable(from, to);
  if (isBlocked(way.water, squares, turn, rules)) return "blocked";
  return targetProblem(squares, from, to, rules);
}

/**
 * The winner of a position and the reason as the server names it, `den` or `no_pieces`; null if nobody has won.
 * @param {string} fen
 * @returns {Page.Result | null}
 */
export function won(fen) {
  const { squares } = boardOf(fen);
  const side = winner({ squares });
  if (!side) return null;
  const taken = !squares.some((piece) => piece && owner(piece) === otherTurn(side));
  return { winner: colorOf(side), reason: taken ? "no_pieces" : "den" };
}
