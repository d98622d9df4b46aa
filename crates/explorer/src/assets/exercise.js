// A position in which the user has to find moves: a lesson, a puzzle, or the user's own mistake. It owns the board
// until the user leaves it. Subclasses judge the moves.

import { app, control, emit, illegal, refresh, rules, undo } from "./app.js";
import { legalMoves } from "./movegen.js";
import { Owner } from "./owner.js";

export class Exercise extends Owner {
  node = app.game.cursor;
  start = app.game.cursor;
  solved = false;
  message = "";
  /** @type {Page.Snapshot | null} The line that was on the board before, if the exercise has a position of its own. */
  before = null;

  /** Begins on the node that the board shows. */
  begin() {
    this.node = this.start = app.game.cursor;
    control(this);
    this.changed();
    return refresh();
  }

  /**
   * Borrows the board for a position. From one exercise to the next the line before the first one is kept.
   * @param {string} fen
   * @param {string} rules
   */
  borrow(fen, rules) {
    const { controller } = app;
    if (controller?.before) [this.before, controller.before] = [controller.before, null];
    else emit("jump");
    this.before ??= app.game.snapshot();
    app.game.begin(fen, { rules });
    emit("rules");
  }

  /** What a reload needs to begin the exercise again: its kind and its position. Subclasses override this. */
  identity() {
    return { before: this.before };
  }

  /** Legal moves while the exercise is open; none while the board shows another position. @returns {Page.Move[]} */
  moves() {
    const isOpen = !this.solved && !this.asking && app.game.cursor === this.node;
    return isOpen ? legalMoves(this.node.fen, rules()) : [];
  }

  /** @param {string} uci */
  play(uci) {
    if (!this.moves().some((move) => move.uci === uci)) return undefined;
    this.drop();
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

  /** Explains why a move is not legal. @param {string} uci */
  refuse(uci) {
    if (!this.moves().length) return undefined;
    this.message = illegal(uci);
    return this.changed();
  }

  /** The sentence above the tabs. */
  headline() {
    return this.message;
  }

  /** Shows a move on the board. @param {string} uci */
  async advance(uci) {
    this.node = app.game.child(this.node, uci);
    app.game.go(this.node);
    await refresh();
    this.changed();
  }

  /** Back to the first position. */
  again() {
    this.drop();
    Object.assign(this, { node: this.start, solved: false, message: "" });
    app.game.go(this.start);
    this.changed();
    return refresh();
  }

  undo() {
    return this.again();
  }

  /** The square to mark on the board. Lessons override this. @returns {number | null} */
  goal() {
    return null;
  }

  leave() {
    if (this.before) app.game.done.push(this.before);
    app.board.goal = null;
    emit("lesson", null);
  }

  /**
   * Gives the board back to the line that was on it, or with `keep` to a line from the position of the exercise.
   * @param {{ keep?: boolean }} [options]
   */
  close({ keep = false } = {}) {
    if (app.controller !== this) return undefined;
    control(null);
    return this.before && !keep ? undo() : refresh();
  }

  changed() {
    app.board.goal = this.solved ? null : this.goal();
    app.board.select(null);
    emit("lesson", this);
    emit("match", null);
  }
}
