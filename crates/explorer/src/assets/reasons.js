// Why a move wins, as a teacher would say it: at most two reasons, each of them true of the board.

import { legalMoves } from "./movegen.js";
import { pass, play } from "./position.js";
import { animal, t } from "./ui.js";

/** The most reasons of a move. */
const MOST = 2;

/**
 * What speaks for a move, most important first. Of a move that does not win, only what it does itself.
 * @param {string} fen the position before it
 * @param {Page.Move & { piece?: string }} move
 * @param {Page.Rules} rules
 */
export function reasonsOf(fen, { uci, from, to, piece = "", captures, den, leap, value }, rules) {
  const after = play(fen, uci);
  const isWin = value?.wdl === "win";
  // What either side could do before the move and can do after it, whoever is to move.
  const [own, next, theirs, replies] = [fen, pass(after), pass(fen), after].map((at) => legalMoves(at, rules));
  const attacked = next.find((move) => move.captures && !own.some((old) => old.captures && old.to === move.to));
  const isSaved = theirs.some((move) => move.to === from) && !replies.some((move) => move.to === to);
  const isGuarded = theirs.some((move) => move.den) && !replies.some((move) => move.den);
  const reasons = [
    den && t("note.den"),
    captures && t("note.takes", { animal: animal(captures) }),
    isWin && next.some((move) => move.den) && t("note.enters"),
    isWin && isGuarded && t("note.guards"),
    isWin && isSaved && t("note.saves", { animal: animal(piece) }),
    isWin && attacked && t("note.attacks", { animal: animal(attacked.captures ?? "") }),
    leap && t("theme.leap"),
  ];
  return reasons.filter(Boolean).slice(0, MOST);
}
