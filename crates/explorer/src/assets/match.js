// A game on this board: against the engine, or two players. It owns the board until it ends.

import { get } from "./api.js";
import { app, control, emit, gameParams, illegal, overText, refresh, rules, setOffline, status } from "./app.js";
import { Clock } from "./clock.js";
import { levelOf, timeControl } from "./levels.js";
import { legalMoves } from "./movegen.js";
import { Owner } from "./owner.js";
import { pause } from "./pending.js";
import { colorOf, notation, otherTurn, pass } from "./position.js";
import { newId, storeGame, takeGame } from "./store.js";
import { announce, errorText, isTemporary, side, t } from "./ui.js";
import { treeText } from "./variations.js";

/** Milliseconds of the engine for a move; less where its clock is short. */
const MOVE_TIME = 1000;
/** The least time before the engine's move appears, so that the eye can follow. */
const PAUSE = 350;
const RETRY = 2000;
/** Plies before which the engine declines a draw. */
const EARLIEST_DRAW = 20;

/**
 * @typedef {object} Setup
 * @property {string} you "w", "b" or "both": the side of the user, or both for two players
 * @property {string} level a level's key
 * @property {string} time a time control
 * @property {boolean} [turning] whether the board turns after each move of two players
 * @property {boolean} [trainer] whether it is an endgame to be won against perfect play
 */

export class Match extends Owner {
  /** @type {Page.Result | null} */
  result = null;
  /** Whether the server does not respond for now. */
  waiting = false;
  /** @type {Page.Problem | null} Why the engine does not move, if asking again does not help by itself. */
  problem = null;
  /** @type {Page.Score | null} The engine's last score. */
  score = null;
  /** @type {string | null} The side that offers a draw to the other player. */
  offer = null;
  /** @type {string | null} The premove: a move that follows the engine's move. */
  premove = null;
  message = "";
  hints = 0;
  takebacks = 0;
  /** Whether the browser keeps the game. */
  isKept = true;
  /** @type {number | undefined} */
  ticking = undefined;

  /**
   * @param {Setup} setup
   * @param {{ id?: string, date?: string, left?: Record<Api.Turn, number> | null }} [kept] of a game that goes on
   */
  constructor(setup, { id = newId(), date = new Date().toISOString(), left = null } = {}) {
    super();
    const time = timeControl(setup.time);
    this.setup = setup;
    this.id = id;
    this.date = date;
    this.clock = time ? new Clock({ ...time, left }) : null;
    this.node = app.game.cursor;
    this.status = status(this.node);
  }

  /** Begins at the position on the board, or continues at the end of the line on it. */
  async begin() {
    this.node = app.game.line().at(-1) ?? app.game.cursor;
    app.game.go(this.node);
    control(this);
    app.board.flip(this.setup.you === "b" || (this.turning() && this.turn() === "b"));
    this.status = status(this.node);
    takeGame(this.id);
    if (this.status.over) return this.finish(this.status.over);
    this.clock?.start(this.turn());
    if (this.clock) this.ticking = setInterval(() => this.tick(), 100);
    this.changed();
    await refresh();
    return this.reply();
  }

  turn() {
    return this.node.fen.slice(-1);
  }

  /** Whether leaving would interrupt a game. */
  isRunning() {
    return !this.result && this.node.ply > 0;
  }

  /** What a reload needs to continue the game. @returns {object} */
  identity() {
    const { id, date, setup } = this;
    return { id, date, setup };
  }

  turning() {
    return this.setup.you === "both" && Boolean(this.setup.turning);
  }

  /** @param {Api.Turn} turn */
  isHuman(turn) {
    return this.setup.you === "both" || this.setup.you === turn;
  }

  /** Whether the user may move now: it is the user's turn, and the board shows the end of the game. */
  isOpen() {
    return !this.result && app.game.cursor === this.node && this.isHuman(this.turn());
  }

  moves() {
    return this.isOpen() ? this.status.moves : this.premoves();
  }

  /** The possible premoves while the engine thinks: the moves that would be legal now. */
  premoves() {
    const { setup } = this;
    const isPossible = !this.result && !setup.trainer && app.game.cursor === this.node && !this.isHuman(this.turn());
    return isPossible ? legalMoves(pass(this.node.fen), rules()) : [];
  }

  /** Sets the premove, or cancels it if it is the same move again. @param {string} uci */
  setPremove(uci) {
    this.premove = this.premove === uci ? null : uci;
    this.message = this.premove ? t("match.premove", { move: notation(pass(this.node.fen), uci) }) : "";
    announce(this.message || t("match.premove.none"));
    app.board.select(null);
    app.board.point(this.premove);
    this.changed();
  }

  /** Plays the premove, if it is legal, wherever the board is. */
  playPremove() {
    const { premove } = this;
    this.premove = null;
    if (!premove || this.result) return;
    this.message = "";
    if (this.status.moves.some((move) => move.uci === premove)) return this.advance(premove);
    this.message = t("match.premove.illegal");
    announce(this.message);
    this.changed();
  }

  /**
   * The user's move, or a premove while the engine thinks; `message` is shown until the next move.
   * @param {string} uci
   */
  play(uci, message = "") {
    if (this.premoves().some((move) => move.uci === uci)) return this.setPremove(uci);
    if (!this.isOpen() || !this.status.moves.some((move) => move.uci === uci)) return;
    this.drop();
    Object.assign(this, { message, offer: null });
    return this.advance(uci);
  }

  /** Explains why a move is not legal. @param {string} uci */
  refuse(uci) {
    if (!this.isOpen()) return;
    this.message = illegal(uci);
    announce(this.message);
    this.changed();
  }

  /**
   * Makes a move of either side.
   * @param {string} uci
   * @returns {Promise<unknown>}
   */
  async advance(uci) {
    const follows = app.game.cursor === this.node;
    this.node = app.game.child(this.node, uci);
    if (follows) app.game.go(this.node);
    this.clock?.press();
    this.status = status(this.node);
    if (this.status.over) return this.finish(this.status.over);
    if (this.turning() && follows) app.board.flip(this.turn() === "b");
    this.store();
    await refresh();
    this.changed();
    return this.isHuman(this.turn()) ? this.playPremove() : this.reply();
  }

  drop() {
    super.drop();
    Object.assign(this, { waiting: false, problem: null });
  }

  /** Lets the engine move if it is its turn. A request without a response is repeated. @returns {Promise<unknown>} */
  async reply() {
    if (this.result || this.isHuman(this.turn())) return;
    const { strength, perfect } = levelOf(this.setup.level);
    try {
      const [answer] = await this.ask((signal) =>
        Promise.all([this.bestMove({ strength, ...(perfect ? { perfect: 1 } : {}) }, signal), pause(PAUSE)]),
      );
      if (!answer.uci) return this.finish(/** @type {Page.Result} */ (answer.over));
      this.score = answer.score;
      if (this.clock && !this.clock.running) this.clock.start(this.turn());
      return this.advance(answer.uci);
    } catch (error) {
      this.problem = error;
      this.clock?.cancel();
      this.changed();
    }
  }

  /**
   * The engine's move in the game.
   * @param {Page.Query} strength
   * @param {AbortSignal} signal
   */
  async bestMove(strength, signal) {
    this.changed();
    const left = this.clock ? this.clock.read(this.turn()) / 25 : MOVE_TIME;
    const movetime = Math.round(Math.max(50, Math.min(MOVE_TIME, left)));
    const query = { ...gameParams(this.node), movetime, ...strength };
    for (;;) {
      try {
        const answer = await get("bestmove", query, { keep: false, signal });
        setOffline(false);
        this.waiting = false;
        return answer;
      } catch (error) {
        signal.throwIfAborted();
        if (error.code === "offline") setOffline(true);
        this.waiting = isTemporary(error);
        if (!this.waiting) throw error;
        if (!this.isHuman(this.turn())) this.clock?.cancel();
        this.changed();
        await new Promise((resolve) => setTimeout(resolve, RETRY));
        signal.throwIfAborted();
      }
    }
  }

  /** Goes back to the user's last turn: a full move, or one ply between two players. */
  takeback() {
    const node = this.lastTurn();
    if (!node) return;
    this.drop();
    const taken = node.children[node.chosen];
    app.game.go(node);
    this.node = node;
    app.game.remove(taken);
    this.clock?.stop();
    this.clock?.start(this.turn());
    Object.assign(this, { offer: null, message: "", premove: null });
    this.takebacks++;
    this.status = status(node);
    if (this.turning()) app.board.flip(this.turn() === "b");
    this.store();
    this.changed();
    emit("tree");
    return refresh();
  }

  /** Where the user moved last; null if there is no move to take back. */
  lastTurn() {
    let node = this.result ? null : this.node.parent;
    while (node && !this.isHuman(node.fen.slice(-1))) node = node.parent;
    return node;
  }

  /** The page's undo during a game. */
  undo() {
    return this.takeback();
  }

  /** Shows the best move as an arrow. */
  async hint() {
    if (!this.isOpen()) return;
    this.message = t("match.hint.asked");
    try {
      const answer = await this.ask((signal) => this.bestMove({ strength: 10, perfect: 1 }, signal));
      this.hints++;
      this.message = t("match.hint", { move: answer.san });
      app.board.point(answer.uci);
    } catch (error) {
      this.message = errorText(error);
    }
    announce(this.message);
    this.changed();
  }

  resign() {
    if (this.result) return;
    const loser = this.setup.you === "both" ? this.turn() : this.setup.you;
    return this.finish({ winner: colorOf(otherTurn(loser)), reason: "resignation" });
  }

  /** Offers a draw: to the engine, which accepts unless it rates itself better, or to the other player. */
  offerDraw() {
    if (this.result) return;
    if (this.setup.you === "both") {
      this.offer = this.turn();
      return this.changed();
    }
    const { score } = this;
    const better = !score || (score.kind === "cp" ? score.value > 20 : score.value > 0);
    if (!better && this.node.ply >= EARLIEST_DRAW) return this.finish({ winner: null, reason: "agreement" });
    this.message = t("match.draw.declined");
    this.changed();
  }

  /** @param {boolean} accepted */
  answerDraw(accepted) {
    this.offer = null;
    if (accepted) return this.finish({ winner: null, reason: "agreement" });
    this.changed();
  }

  tick() {
    const fallen = this.clock?.fallen();
    if (fallen && this.isHuman(fallen)) return this.finish({ winner: colorOf(otherTurn(fallen)), reason: "time" });
    // The engine keeps to its time: what took longer is the way to the server.
    if (fallen) this.clock?.cancel();
    emit("tick");
  }

  /** @param {Page.Result} result */
  finish(result) {
    if (this.result) return;
    this.result = result;
    this.stop();
    this.store();
    app.game.go(this.node);
    control(null);
    app.finished = this;
    refresh({ quiet: true });
    emit("match", this);
    emit("gameover", this);
  }

  /** Whether the user has won: true, false, or null for a draw and between two players. */
  isWon() {
    if (!this.result?.winner || this.setup.you === "both") return null;
    return this.result.winner === colorOf(this.setup.you);
  }

  stop() {
    this.drop();
    this.clock?.stop();
    clearInterval(this.ticking);
    this.ticking = undefined;
  }

  /** Gives up the board to another controller; an unfinished game is stored. */
  leave() {
    this.stop();
    if (!this.result) this.store();
    emit("match", null);
  }

  changed() {
    emit("match", this);
  }

  store() {
    if (!this.node.ply || this.setup.trainer) return;
    this.isKept = storeGame({
      id: this.id,
      date: this.date,
      setup: this.setup,
      rules: app.rules,
      limit: app.game.limit,
      start: app.game.start(),
      line: treeText(app.game.root),
      plies: this.node.ply,
      result: this.result,
      left: this.clock && { w: this.clock.read("w"), b: this.clock.read("b") },
    });
  }

  headline() {
    if (this.result) return overText(this.result);
    if (this.problem) return t("match.problem");
    if (this.waiting) return t("match.waiting");
    const turn = this.turn();
    if (this.setup.you === "both") return t("tomove", { side: side(turn) });
    return t(this.isHuman(turn) ? "match.yours" : "match.thinking");
  }
}
