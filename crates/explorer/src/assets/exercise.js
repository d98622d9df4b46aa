// A position in which the user has to find moves: a lesson, a puzzle, or the user's own mistake. It owns the board
// until the user leaves it. Subclasses judge the moves.

import { app, control, emit, refresh, rules } from "./app.js";
import { legalMoves } from "./movegen.js";

export class Exercise {
  node = app.game.cursor;
  start = app.game.cursor;
  solved = false;
  message = "";
  /** Wrong moves so far. */
  wrong = 0;
  /** Whether a reply or a solution is being shown. */
  busy = false;

  /** Begins on the node that the board shows. */
  begin() {
    this.node = this.start = app.game.cursor;
    control(this);
    this.changed();
    return refresh();
  }

  /**
   * Legal moves while the exercise is open; none while the board shows another position.
   * @returns {Page.Move[]}
   */
  moves() {
    const isOpen = !this.solved && !this.busy && app.game.cursor === this.node;
    return isOpen ? legalMoves(this.node.fen, rules()) : [];
  }

  /**
   * @param {string} uci
   */
  play(uci) {
    if (!this.moves().some((move) => move.uci === uci)) return undefined;
    return this.judge(uci);
  }

  /**
   * Judges a legal move. Subclasses override this.
   * @param {string} _uci
   * @returns {unknown}
   */
  judge(_uci) {
    throw new Error("an exercise judges its moves");
  }

  /** The sentence above the tabs. */
  headline() {
    return this.message;
  }

  /**
   * Shows a move on the board.
   * @param {string} uci
   */
  async advance(uci) {
    this.node = app.game.child(this.node, uci);
    app.game.go(this.node);
    emit("moved", uci);
    await refresh();
    this.changed();
  }

  /** Back to the first position. */
  again() {
    Object.assign(this, { node: this.start, solved: false, message: "", busy: false });
    app.game.go(this.start);
    this.changed();
    return refresh();
  }

  undo() {
    return this.again();
  }

  /**
   * The square to mark on the board. Lessons override this.
   * @returns {number | null}
   */
  goal() {
    return null;
  }

  leave() {
    this.busy = true;
    app.board.goal = null;
    emit("lesson", null);
  }

  /** Gives the board back to the analysis. */
  close() {
    if (app.controller === this) control(null);
    return refresh();
  }

  changed() {
    app.board.goal = this.solved ? null : this.goal();
    app.board.select(null);
    emit("lesson", this);
    emit("match", null);
  }
}
