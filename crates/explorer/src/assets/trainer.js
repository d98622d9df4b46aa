// The endgame trainer: the user has to win a won endgame against perfect play. Every move is compared with the tables.

import { get } from "./api.js";
import { app, emit } from "./app.js";
import { Match } from "./match.js";
import { notation } from "./position.js";
import { t } from "./ui.js";

/** The least and the most plies to the win for each difficulty. */
const PLIES = [
  [3, 9],
  [11, 17],
  [19, 27],
  [29, 39],
  [41, 201],
];
const ANIMALS = [..."RCWDPTLE"];
const TRIES = 40;

/**
 * @param {any[]} list
 */
const pick = (list) => list[Math.floor(Math.random() * list.length)];

/** A random material of two or three pieces. */
function randomMaterial() {
  const white = pick(ANIMALS);
  const others = ANIMALS.filter((animal) => animal !== white);
  return `${white}${Math.random() < 0.5 ? pick(others) : ""}v${pick(ANIMALS)}`;
}

/**
 * A won position of a difficulty from 1 to 5: its FEN and the plies to the win.
 * @param {number} difficulty
 */
export async function findEndgame(difficulty) {
  const [least, most] = PLIES[difficulty - 1];
  for (let i = 0; i < TRIES; i++) {
    const material = randomMaterial();
    const stats = await get(`stats/${material}`, { rules: app.rules });
    const isWanted = (/** @type {number} */ plies) => plies % 2 === 1 && plies >= least && plies <= most;
    const wins = [...stats.white.by_plies.keys()].filter((plies) => stats.white.by_plies[plies] && isWanted(plies));
    if (!wins.length) continue;
    const plies = pick(wins);
    const seed = Math.floor(Math.random() * 2 ** 32);
    const { fen } = await get("random", { rules: app.rules, material, turn: "w", plies, seed }, { keep: false });
    return { fen, plies };
  }
  return null;
}

export class Trainer extends Match {
  /**
   * @param {{ fen: string, plies: number }} first
   * @param {number} difficulty
   */
  constructor({ fen, plies }, difficulty) {
    super({ you: "w", level: "E", time: "", trainer: true });
    this.difficulty = difficulty;
    this.plies = plies;
    this.judging = false;
    this.fen = fen;
  }

  begin() {
    app.game.reset(this.fen);
    emit("jump");
    this.message = t("trainer.task", { n: this.plies });
    return super.begin();
  }

  /**
   * @param {string} uci
   */
  async play(uci) {
    if (!this.isOpen() || this.judging) return undefined;
    this.judging = true;
    const message = await this.effectOfMove(uci);
    this.judging = false;
    return super.play(uci, message);
  }

  /**
   * The effect of a move on the win, in a sentence; "" if the server does not answer.
   * @param {string} uci
   */
  async effectOfMove(uci) {
    try {
      const { moves, value } = await get("probe", { fen: this.node.fen, rules: app.rules });
      const after = moves.find((/** @type {Page.Move} */ move) => move.uci === uci)?.value;
      const move = notation(this.node.fen, uci);
      if (!after || !value) return "";
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
