// The clauses of decision trees: in the language of the page, and on the board.

import { boardOf, ground } from "./position.js";
import { currentLanguage, described, pieceName, side, t } from "./ui.js";

/**
 * A clause in the language of the page. The server writes English.
 * @param {Api.Clause} clause
 */
export function clauseText({ key, side: about, pieces, numbers, text }) {
  if (currentLanguage() === "en") return text;
  const [a, b] = about ? [side(about)] : pieces.map(pieceName);
  const [n, m] = numbers;
  return t(`clause.${key}`, { a, b, n, m });
}

const isWater = (/** @type {number} */ square) => ground(square).kind === "water";
const isDen = (/** @type {number} */ square) => ground(square).kind === "den";
/** @type {(kind: string) => (square: number, own: string) => boolean} */
const isEnemys = (kind) => (square, own) => ground(square).kind === kind && ground(square).owner !== own;
const [isEnemyTrap, isEnemyDen] = ["trap", "den"].map(isEnemys);

/**
 * The regions that clauses are about, by the beginning of their keys, each with its squares for a side.
 * @type {Record<string, (square: number, own: string) => boolean>}
 */
const REGIONS = {
  can_cross: (square, own) => (own === "w" ? square >= 42 : square < 21),
  unopposed: isEnemyTrap,
  margin: isEnemyTrap,
  trapped: isEnemyTrap,
  own_den: (square, own) => isDen(square) && ground(square).owner === own,
  den: isEnemyDen,
  closest: isEnemyDen,
  lead: isDen,
  wing: (square) => square % 7 === 3,
  wet: isWater,
  leaps: isWater,
};

/**
 * The squares of a board that a clause is about: those of its pieces, and of its ranks, traps, dens, file or water.
 * @param {Api.Clause} clause
 * @param {string} position
 */
export function clauseSquares({ key, side: about, pieces, numbers }, position) {
  const { squares } = boardOf(position);
  const [what] = key.split(".");
  const own = about ? about[0] : pieces[0] === pieces[0].toUpperCase() ? "w" : "b";
  const isNamed = (/** @type {number} */ square) => {
    const rank = Math.floor(square / 7) + 1;
    return what === "rank" ? rank >= numbers[0] && rank <= numbers[1] : REGIONS[what]?.(square, own);
  };
  return {
    pieces: pieces.map((piece) => squares.indexOf(piece)).filter((square) => square >= 0),
    region: squares.map((_, square) => square).filter(isNamed),
  };
}

/** The most clauses of a sentence; more clauses form a list. */
const MOST_CLAUSES = 3;

/**
 * What a tree says, with its reasons: "White wins, because A, B, and C." With many clauses `sentence` is only the
 * beginning, and `clauses` contains the list.
 * @param {string} result
 * @param {Api.Clause[]} reasons
 */
export function because(result, reasons) {
  const clauses = reasons.map(clauseText);
  if (!clauses.length) return { sentence: t("because.none", { result }), clauses };
  if (clauses.length > MOST_CLAUSES) return { sentence: t("because.list", { result }), clauses };
  const last = clauses.pop();
  const joined = clauses.length ? described(clauses) + t("because.and") + last : last;
  return { sentence: t("because", { result, reasons: joined }), clauses: [] };
}
