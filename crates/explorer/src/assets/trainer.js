// The endgame trainer: the user has to win a won endgame, or to hold a drawn one, against perfect play. Every move is
// compared with the tables.

import { get } from "./api.js";
import { app, emit } from "./app.js";
import { noteResult } from "./class.js";
import { Match } from "./match.js";
import { ANIMALS, colorOf, notation, otherTurn } from "./position.js";
import { fullMoves } from "./status.js";
import { side, t } from "./ui.js";

/** The least and the most plies to the win for each difficulty. */
const PLIES = [
  [3, 9],
  [11, 17],
  [19, 27],
  [29, 39],
  [41, 201],
];
const TRIES = 40;

/**
 * @template T
 * @param {ArrayLike<T>} list
 */
const pick = (list) => list[Math.floor(Math.random() * list.length)];

/** A random material of two or three pieces. */
function randomMaterial() {
  const white = pick(ANIMALS);
  const others = ANIMALS.replace(white, "");
  return `${white}${Math.random() < 0.5 ? pick(others) : ""}v${pick(ANIMALS)}`;
}

/**
 * @typedef {object} Endgame a position: the side to move wins if the number of plies is odd
 * @property {string} fen
 * @property {number | null} plies the plies to the win; null for a draw that the side to move has to hold
 * @property {string} rules
 * @property {string} [title] the title, if it is a task of a class
 */

/**
 * A won position of a difficulty from 1 to 5; null if chance found none.
 * @param {number} difficulty
 * @param {string} rules
 * @param {AbortSignal} signal
 * @returns {Promise<Endgame | null>}
 */
export async function findEndgame(difficulty, rules, signal) {
  const [least, most] = PLIES[difficulty - 1];
  for (let i = 0; i < TRIES; i++) {
    const material = randomMaterial();
    const stats = await get(`stats/${material}`, { rules }, { signal });
    const wins = stats.white.by_plies.flatMap((count, plies) =>
      count && plies % 2 === 1 && plies >= least && plies <= most ? [plies] : [],
    );
    if (!wins.length) continue;
    const plies = pick(wins);
    const seed = Math.floor(Math.random() * 2 ** 32);
    const { fen } = await get("random", { rules, material, turn: "w", plies, seed }, { keep: false, signal });
    if (fen) return { fen, plies, rules };
  }
  return null;
}

export class Trainer extends Match {
  /** @param {Endgame} endgame */
  constructor(endgame) {
    const { fen, plies } = endgame;
    const turn = fen.slice(-1);
    super({ you: plies === null || plies % 2 ? turn : otherTurn(turn), level: "E", time: "", trainer: true });
    this.endgame = endgame;
  }

  identity() {
    return { endgame: this.endgame };
  }

  /** Puts the endgame on the board and begins. */
  start() {
    const { fen, rules } = this.endgame;
    app.game.reset(fen, { rules });
    emit("rules");
    emit("jump");
    return this.begin();
  }

  begin() {
    const { plies } = this.endgame;
    if (!app.game.root.children.length)
      this.message = t(plies ? "trainer.task" : "puzzle.head.draw", { side: side(this.setup.you), n: plies });
    return super.begin();
  }

  /** @param {Page.Result} result */
  finish(result) {
    const { endgame, hints, takebacks } = this;
    const won = result.winner === colorOf(this.setup.you) || (!endgame.plies && !result.winner);
    if (endgame.title !== undefined && !this.result)
      noteResult(endgame, { won, n: fullMoves(this.node.ply), hints, takebacks });
    super.finish(result);
  }

  /** The user's move, which is judged first. @param {string} uci */
  async play(uci) {
    if (!this.isOpen()) return undefined;
    const wait = () => {
      this.message = t("working");
      this.changed();
    };
    return super.play(uci, await this.ask((signal) => this.effectOfMove(uci, signal), wait));
  }

  /**
   * The effect of a move on the result, in a sentence; "" if the server does not answer.
   * @param {string} uci
   * @param {AbortSignal} signal
   */
  async effectOfMove(uci, signal) {
    try {
      const { moves, value } = await get("probe", { fen: this.node.fen, rules: app.rules }, { signal });
      const after = moves?.find((other) => other.uci === uci)?.value;
      const move = notation(this.node.fen, uci);
      if (!after || !value) return "";
      if (value.wdl === "draw" && after.wdl === "loss") return t("cost.draw.loss", { move });
      if (value.wdl !== "win") return "";
      if (after.wdl !== "win") return t(`trainer.lost.${after.wdl}`, { move });
      if (after.dtw === null || value.dtw === null) return "";
      const cost = after.dtw - value.dtw;
      return cost ? t("trainer.longer", { move, n: cost }) : t("trainer.best", { move, n: after.dtw - 1 });
    } catch {
      return "";
    }
  }
}
