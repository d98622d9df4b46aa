// "Try again": the user looks for a better move in the position of a mistake.

import { app } from "./app.js";
import { Exercise } from "./exercise.js";
import { notation } from "./position.js";
import { reviewGame } from "./review.js";
import { errorText, side, t } from "./ui.js";

export class Retry extends Exercise {
  /** @param {Page.Reviewed} mistake */
  constructor(mistake) {
    super();
    this.mistake = mistake;
  }

  identity() {
    return { ...super.identity(), mistake: this.mistake, ply: this.start.ply };
  }

  headline() {
    if (this.message) return this.message;
    return t("retry.head", { side: side(this.mistake.before.slice(-1)), move: this.mistake.san });
  }

  /** @param {string} uci */
  async judge(uci) {
    if (uci === this.mistake.uci) {
      this.message = t("retry.same", { move: this.mistake.san });
      return this.changed();
    }
    const mark = uci === this.mistake.best ? "" : await this.ask((signal) => this.markOf(uci, signal));
    if (mark === null) return this.changed();
    const move = notation(this.mistake.before, uci);
    if (mark) {
      this.message = t("retry.wrong", { move: move + mark });
      return this.changed();
    }
    this.solved = true;
    this.message = t(uci === this.mistake.best ? "retry.best" : "retry.good", { move });
    return this.advance(uci);
  }

  /**
   * The mark that a review gives a move: "" for a good one; null if the server does not answer.
   * @param {string} uci
   * @param {AbortSignal} signal
   */
  async markOf(uci, signal) {
    try {
      const moves = [];
      for (let { node } = this; node.parent; node = node.parent) moves.unshift(node.uci ?? "");
      const game = { start: app.game.start(), moves: [...moves, uci], rules: app.rules, limit: app.game.limit };
      const [entry] = await reviewGame(game, { signal, skip: moves.length });
      return entry.mark;
    } catch (error) {
      this.message = errorText(error);
      return null;
    }
  }

  show() {
    this.drop();
    this.solved = true;
    const { before, best } = this.mistake;
    this.message = t("retry.shown", { move: notation(before, best ?? "") });
    return this.advance(best ?? "");
  }
}
