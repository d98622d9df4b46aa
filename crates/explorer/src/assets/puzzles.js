// Puzzles: positions with one move that keeps the result. The server draws them from its file.

import { get } from "./api.js";
import { app, emit } from "./app.js";
import { Exercise } from "./exercise.js";
import { notation, play } from "./position.js";
import { keep, recall } from "./storage.js";
import { side, t } from "./ui.js";

const STORE = "doushouqi.puzzles";
/** Milliseconds before the reply appears. */
const PAUSE = 400;

/**
 * The puzzles that have been solved in this browser, and how many of them at the first move.
 * @returns {{ solved: string[], first: number }}
 */
export function progress() {
  const { solved, first } = recall(STORE, {});
  return { solved: Array.isArray(solved) ? solved : [], first: Number(first) || 0 };
}

/**
 * @param {string} id
 * @param {any} first
 */
function remember(id, first) {
  const { solved, first: before } = progress();
  if (!solved.includes(id)) keep(STORE, { solved: [...solved, id], first: before + (first ? 1 : 0) });
}

/** The number of puzzles of a request. The page chooses an unsolved one. */
const DRAWN = 50;

/**
 * A puzzle of a difficulty, 1 to 5, that has not been solved yet if there is one among many; null if there is none.
 * @param {number} difficulty
 */
export async function choosePuzzle(difficulty) {
  const seed = Math.floor(Math.random() * 2 ** 32);
  const { puzzles } = await get("puzzles", { difficulty, count: DRAWN, seed }, { keep: false });
  const { solved } = progress();
  return puzzles.find((/** @type {Page.Puzzle} */ puzzle) => !solved.includes(puzzle.id)) ?? puzzles[0] ?? null;
}

export class Puzzle extends Exercise {
  /**
   * @param {Page.Puzzle} puzzle
   */
  constructor(puzzle) {
    super();
    this.puzzle = puzzle;
    this.step = 0;
    this.shown = false;
  }

  begin() {
    app.game.reset(this.puzzle.fen, { rules: this.puzzle.rules ?? "paper" });
    emit("rules");
    app.board.flip(this.puzzle.fen.endsWith("b"));
    return super.begin();
  }

  headline() {
    const { fen, goal } = this.puzzle;
    return this.message || t(goal ? `puzzle.head.${goal}` : "puzzle.head", { side: side(fen.slice(-1)) });
  }

  /**
   * @param {string} uci
   */
  async judge(uci) {
    const { solution } = this.puzzle;
    if (uci !== solution[this.step] && !(this.step && (await this.isAsGood(uci)))) {
      this.wrong++;
      this.message = t("puzzle.wrong", { move: notation(this.node.fen, uci) });
      return this.changed();
    }
    const leftLine = uci !== solution[this.step];
    this.step++;
    this.busy = true;
    await this.advance(uci);
    if (leftLine || this.step >= solution.length) return this.finish();
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    if (app.controller !== this) return undefined;
    await this.advance(solution[this.step++]);
    this.busy = false;
    this.message = this.step >= solution.length ? "" : t("puzzle.on");
    return this.step >= solution.length ? this.finish() : this.advanceDone();
  }

  advanceDone() {
    app.board.setMoves(this.moves());
    return this.changed();
  }

  /**
   * After the first move more than one move may keep the result: the tables decide.
   * @param {string} uci
   */
  async isAsGood(uci) {
    try {
      const { moves, known } = await get("probe", { fen: this.node.fen, rules: app.rules });
      const entry = moves.find((/** @type {Page.Move} */ move) => move.uci === uci);
      return known && entry.value?.wdl === moves[0].value?.wdl;
    } catch {
      return false;
    }
  }

  finish() {
    this.busy = false;
    this.solved = true;
    if (!this.shown) remember(this.puzzle.id, this.wrong === 0);
    this.message = t(this.shown ? "puzzle.shown" : this.wrong ? "puzzle.solved" : "puzzle.first");
    return this.changed();
  }

  async show() {
    this.shown = true;
    this.busy = true;
    for (; this.step < this.puzzle.solution.length; this.step++) {
      await this.advance(this.puzzle.solution[this.step]);
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      if (app.controller !== this) return undefined;
    }
    return this.finish();
  }

  again() {
    Object.assign(this, { step: 0, shown: false });
    return super.again();
  }

  /** The line of a solution in the papers' notation. */
  text() {
    let { fen } = this.puzzle;
    return this.puzzle.solution
      .map((/** @type {string} */ uci) => {
        const san = notation(fen, uci);
        fen = play(fen, uci);
        return san;
      })
      .join(" ");
  }
}
