// The engine's scores in one point of view: numbers are White's, words name the side.

import { side, t } from "./ui.js";

/**
 * A score for the side to move as `{winner, plies, within, cp}`: `winner` is "w" or "b" if the search has proved a win,
 * in `plies` plies or, by the tables, in at most `within`; otherwise null, and `cp` are centipawns for White.
 * @param {{kind: string, value: number}} score
 * @param {string} turn the side to move, "w" or "b"
 */
export function fromWhite({ kind, value }, turn) {
  const other = turn === "w" ? "b" : "w";
  const cp = turn === "w" ? value : -value;
  if (kind === "mate") return { winner: value > 0 ? turn : other, plies: Math.abs(value), cp };
  if (kind === "win") return { winner: value > 0 ? turn : other, plies: null, within: Math.abs(value), cp };
  return { winner: null, plies: null, cp };
}

/**
 * "+1.20" for White, "White in 17", or "White wins" where only a bound of the distance is known.
 * @param {Page.Score} score
 * @param {string} turn
 */
export function scoreText(score, turn) {
  const { winner, plies, cp } = fromWhite(score, turn);
  if (winner) return t(plies === null ? "score.wins" : "score.in", { side: side(winner), n: plies });
  const sign = cp > 0 ? "+" : cp < 0 ? "−" : "";
  return sign + (Math.abs(cp) / 100).toFixed(2);
}

/**
 * "win" if the score is good for White, "loss" if for Black, else "draw": the colour of a chip.
 * @param {Page.Score} score
 * @param {string} turn
 */
export function scoreKind(score, turn) {
  const { winner, cp } = fromWhite(score, turn);
  if (winner) return winner === "w" ? "win" : "loss";
  return cp > 30 ? "win" : cp < -30 ? "loss" : "draw";
}

/** @type {[number, string][]} */
const DEGREES = [
  [30, "even"],
  [120, "slight"],
  [300, "better"],
  [Infinity, "much"],
];

/**
 * "White is slightly better", "White wins in 17 plies".
 * @param {Page.Score} score
 * @param {string} turn
 */
export function scoreSentence(score, turn) {
  const { winner, plies, within, cp } = fromWhite(score, turn);
  if (winner && within) return t("result.within", { side: side(winner), n: within });
  if (winner) return t("result.win", { side: side(winner), n: plies });
  const [, degree] = DEGREES.find(([most]) => Math.abs(cp) < most) ?? [0, "much"];
  return t(`eval.${degree}`, { side: side(cp > 0 ? "w" : "b") });
}

/**
 * The headline if no table contains the position.
 * @param {Page.Evaluation} evaluation
 * @param {string} turn
 * @param {boolean} offline
 */
export function evaluationText({ state, last, error }, turn, offline) {
  if (last) return scoreSentence(last.score, turn);
  if (offline) return t("eval.offline");
  if (error) return t("eval.busy");
  return state === "idle" ? t("tomove", { side: side(turn) }) : t("eval.thinking");
}

/**
 * White's share of the evaluation bar, from 0 to 1.
 * @param {Page.Score} score
 * @param {string} turn
 */
export function whiteShare(score, turn) {
  const { winner, cp } = fromWhite(score, turn);
  if (winner) return winner === "w" ? 1 : 0;
  return 1 / (1 + Math.exp(-cp / 250));
}
