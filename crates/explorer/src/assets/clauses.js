// The clauses of decision trees: in the language of the page, and on the board.

import { boardOf, ground, isWater, isWhite } from "./position.js";
import { currentLanguage, pieceName, side, t } from "./ui.js";

/** A clause in the language of the page. The server writes English. @param {Api.Clause} clause */
export function clauseText({ key, side: about, pieces, numbers, text }) {
  if (currentLanguage() === "en") return text;
  const [a, b] = about ? [side(about)] : pieces.map(pieceName);
  const [n, m] = numbers;
  return t(`clause.${key}`, { a, b, n, m });
}

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
  const own = about ? about[0] : isWhite(pieces[0]) ? "w" : "b";
  const isNamed = (/** @type {number} */ square) => {
    const rank = Math.floor(square / 7) + 1;
    return what === "rank" ? rank >= numbers[0] && rank <= numbers[1] : REGIONS[what]?.(square, own);
  };
  return {
    pieces: pieces.map((piece) => squares.indexOf(piece)).filter((square) => square >= 0),
    region: squares.map((_, square) => square).filter(isNamed),
  };
}

/**
 * A result with its reasons: "White wins, because A, and B."
 * @param {string} result
 * @param {Pick<Api.Tree, "clauses" | "although" | "path">} tree
 */
export function because(result, { clauses, although, path }) {
  const joined = (/** @type {Api.Clause[]} */ list) => list.map(clauseText).join(t("because.and"));
  if (clauses.length) return t("because", { result, reasons: joined(clauses) });
  if (although.length) return t("although", { result, reasons: joined(although) });
  return t(path.length > 1 ? "because.tree" : "because.none", { result });
}
