// A lesson on the board: White moves alone until the goal is reached.

import { app, refresh } from "./app.js";
import { Exercise } from "./exercise.js";
import { boardOf, DENS, index, name, pass, play } from "./position.js";
import { t } from "./ui.js";

export class Tutorial extends Exercise {
  /** @param {ReturnType<typeof import("./lessons.js").lessonsOf>[number]} lesson */
  constructor(lesson) {
    super();
    this.lesson = lesson;
    this.used = 0;
  }

  begin() {
    this.borrow(this.lesson.fen, app.chosen);
    return super.begin();
  }

  identity() {
    return { ...super.identity(), lesson: this.lesson.key };
  }

  /** The square that the piece has to reach: of the piece to be captured, or Black's den. */
  goal() {
    const { reach, capture } = this.lesson.goal;
    if (reach) return index(reach);
    if (!capture) return DENS.b;
    const square = boardOf(this.node.fen).squares.indexOf(capture);
    return square < 0 ? null : square;
  }

  headline() {
    return this.message || t(`lesson.${this.lesson.key}.task`, { n: this.lesson.most });
  }

  /** @param {string} uci */
  async judge(uci) {
    this.used++;
    const { goal, most } = this.lesson;
    const captured = boardOf(this.node.fen).squares[index(uci.slice(2))];
    const to = uci.slice(2);
    const taken = goal.capture && captured === goal.capture;
    const reached = taken || to === goal.reach || (goal.den && to === name(DENS.b));
    if (reached) {
      this.solved = true;
      this.message = t("lesson.solved");
      return this.advance(uci);
    }
    if (this.used >= most || (captured && goal.capture)) {
      await this.again();
      this.message = t("lesson.missed", { n: most });
      return this.changed();
    }
    return this.moveAgain(uci);
  }

  /** Makes a move after which White is to move again. @param {string} uci */
  async moveAgain(uci) {
    app.game.begin(pass(play(this.node.fen, uci)));
    this.node = app.game.cursor;
    this.message = "";
    await refresh();
    this.changed();
  }

  again() {
    this.used = 0;
    app.game.begin(this.lesson.fen);
    this.start = app.game.cursor;
    return super.again();
  }
}
