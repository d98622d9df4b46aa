// Puzzles: positions with one move that keeps the result. The server draws them from its file.

import { get } from "./api.js";
import { app, emit } from "./app.js";
import { Exercise } from "./exercise.js";
import { pause } from "./pending.js";
import { notation, play } from "./position.js";
import { keep, recall } from "./storage.js";
import { moveText, side, t } from "./ui.js";

const STORE = "doushouqi.puzzles";
/** Milliseconds before the reply appears. */
const PAUSE = 400;

/** The rating of somebody who has tried no puzzle, and of the puzzles of each difficulty. */
const START = 1200;
const RATINGS = [800, 1100, 1400, 1700, 2000];
/** The most points that one puzzle changes. */
const STEP = 32;

/**
 * What this browser remembers of puzzles.
 * @typedef {object} Progress
 * @property {string[]} solved
 * @property {string[]} missed those whose first move was wrong, or whose solution was shown before it
 * @property {string[]} shown those whose solution was shown before it was found
 * @property {number} rating
 * @property {number} streak the number of the last puzzles that were all solved at the first move
 * @property {number} best the longest streak so far
 * @property {string} day the day of the last puzzle of the day that was solved
 */

/** The progress so far. @returns {Progress} */
export function progress() {
  const kept = recall(STORE, /** @type {Record<string, unknown>} */ ({}));
  const count = (/** @type {string} */ name, otherwise = 0) =>
    Number.isFinite(kept[name]) ? Math.max(0, Number(kept[name])) : otherwise;
  const list = (/** @type {string} */ name) => (Array.isArray(kept[name]) ? kept[name] : []);
  return {
    solved: list("solved"),
    missed: list("missed"),
    shown: list("shown"),
    rating: count("rating", START),
    streak: count("streak"),
    best: count("best"),
    day: String(kept.day ?? ""),
  };
}

/**
 * The rating after a puzzle: Elo's formula, with the puzzle as the opponent.
 * @param {number} rating
 * @param {number} difficulty 1 to 5
 * @param {boolean} won whether it was solved at the first move
 */
export function rated(rating, difficulty, won) {
  const expected = 1 / (1 + 10 ** ((RATINGS[difficulty - 1] - rating) / 400));
  return Math.max(0, Math.round(rating + STEP * (Number(won) - expected)));
}

/** The difficulty whose rating is nearest. @param {number} rating */
export function fitting(rating) {
  const distances = RATINGS.map((other) => Math.abs(other - rating));
  return distances.indexOf(Math.min(...distances)) + 1;
}

/**
 * The progress after the first try at a puzzle. Later ones change nothing.
 * @param {Progress} before
 * @param {Page.Puzzle} puzzle
 * @param {boolean} won
 * @returns {Progress}
 */
export function tried(before, { id, difficulty }, won) {
  if (before.solved.includes(id) || before.missed.includes(id)) return before;
  const streak = won ? before.streak + 1 : 0;
  return {
    ...before,
    missed: won ? before.missed : [...before.missed, id],
    rating: rated(before.rating, difficulty, won),
    streak,
    best: Math.max(before.best, streak),
  };
}

/**
 * The progress after a solution that the user has found. One that was shown before changes nothing.
 * @param {Progress} before
 * @param {Page.Puzzle} puzzle
 * @param {string} [day] the day, if it is the daily puzzle
 * @returns {Progress}
 */
export function found(before, { id }, day) {
  if (before.shown.includes(id)) return before;
  return { ...before, solved: [...new Set([...before.solved, id])], day: day ?? before.day };
}

/**
 * The progress after the solution was shown. One that was found before changes nothing.
 * @param {Progress} before
 * @param {Page.Puzzle} puzzle
 * @returns {Progress}
 */
export function shown(before, { id }) {
  const isKnown = before.solved.includes(id) || before.shown.includes(id);
  return isKnown ? before : { ...before, shown: [...before.shown, id] };
}

/** The day where the user is, as a date: `2026-11-28`. */
export function today(now = new Date()) {
  const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}

/** The difficulty of the puzzle of the day. */
const DAILY = 3;

/**
 * The puzzle of a day, the same for everybody who has the same puzzles and rules; null if there is none.
 * @param {string} day
 * @param {AbortSignal} [signal]
 */
export async function dailyPuzzle(day, signal) {
  const query = { difficulty: DAILY, count: 1, seed: Number(day.replaceAll("-", "")) };
  return (await draw(query, { signal }))[0] ?? null;
}

/**
 * Puzzles of the rules that the user has chosen; of any rules, if these have none.
 * @param {Page.Query} query
 * @param {{ signal?: AbortSignal, keep?: boolean }} options
 */
async function draw(query, options) {
  const { chosen: rules } = app;
  const found = await get("puzzles", { ...query, rules }, options);
  const hasRules = found.total || (await get("puzzles", { rules }, options)).total;
  return (hasRules ? found : await get("puzzles", query, options)).puzzles;
}

/** The themes to choose from. */
export const THEMES = ["den-race", "trap", "leap", "rat-in-water", "zugzwang", "sacrifice", "defence", "quiet"];

/** The number of puzzles of a request. The page chooses an unsolved one. */
const DRAWN = 50;

/**
 * A puzzle of a difficulty, 1 to 5 or null for any, that has not been solved yet if there is one among many; null if
 * there is none.
 * @param {number | null} difficulty
 * @param {string} theme "" for any
 * @param {AbortSignal} signal
 */
export async function choosePuzzle(difficulty, theme, signal) {
  const puzzles = await drawPuzzles(difficulty, theme, DRAWN, signal);
  const { solved } = progress();
  return puzzles.find((puzzle) => !solved.includes(puzzle.id)) ?? puzzles[0] ?? null;
}

/**
 * Some puzzles of a difficulty and a theme for paper.
 * @param {number | null} difficulty
 * @param {string} theme
 * @param {number} count
 * @param {AbortSignal} signal
 */
export function drawPuzzles(difficulty, theme, count, signal) {
  const seed = Math.floor(Math.random() * 2 ** 32);
  return draw({ difficulty, theme, count, seed }, { keep: false, signal });
}

/** What is to be done in a puzzle. @param {Page.Puzzle} puzzle */
export const taskOf = ({ fen, goal }) => t(goal ? `puzzle.head.${goal}` : "puzzle.head", { side: side(fen.slice(-1)) });

/** The moves of the solution of a puzzle. @param {Page.Puzzle} puzzle */
export function solutionOf({ fen, solution }) {
  const before = solution.map((_, i) => solution.slice(0, i).reduce(play, fen));
  return moveText(solution.map((uci, i) => notation(before[i], uci)).join(" "));
}

export class Puzzle extends Exercise {
  /** The points that the first try has won or lost; null before it, and where it did not count. */
  gained = /** @type {number | null} */ (null);
  step = 0;
  shown = false;

  /**
   * @param {Page.Puzzle} puzzle
   * @param {string} [day] the day whose puzzle it is
   */
  constructor(puzzle, day) {
    super();
    this.puzzle = puzzle;
    this.day = day;
  }

  identity() {
    return { ...super.identity(), puzzle: this.puzzle, day: this.day };
  }

  /** Counts the first try. @param {boolean} won */
  count(won) {
    const before = progress();
    const after = tried(before, this.puzzle, won);
    if (after === before) return;
    this.gained = after.rating - before.rating;
    keep(STORE, after);
  }

  begin() {
    const { fen, rules = "paper" } = this.puzzle;
    this.borrow(fen, rules);
    app.board.flip(fen.endsWith("b"));
    return super.begin();
  }

  headline() {
    return this.message || taskOf(this.puzzle);
  }

  /** @param {string} uci */
  async judge(uci) {
    const { solution } = this.puzzle;
    if (uci !== solution[this.step] && !(this.step && (await this.ask((signal) => this.isAsGood(uci, signal))))) {
      this.count(false);
      this.message = t("puzzle.wrong", { move: notation(this.node.fen, uci) });
      this.changed();
      return this.refute(uci);
    }
    const leftLine = uci !== solution[this.step];
    this.step++;
    // Until the pause is over no move is taken.
    const paused = this.pause();
    await this.advance(uci);
    if (leftLine || this.step >= solution.length) return this.finish();
    await paused;
    this.message = t("puzzle.on");
    await this.advance(solution[this.step++]);
    return this.step >= solution.length ? this.finish() : undefined;
  }

  /** Time for the eye to follow a move. It ends early if the puzzle is left or begins again. */
  pause() {
    return this.ask(() => pause(PAUSE));
  }

  /**
   * After the first move more than one move may keep the result: the tables decide.
   * @param {string} uci
   * @param {AbortSignal} signal
   */
  async isAsGood(uci, signal) {
    try {
      const { moves, known } = await get("probe", { fen: this.node.fen, rules: app.rules }, { signal });
      const entry = moves?.find((move) => move.uci === uci);
      return known && entry?.value?.wdl === moves?.[0].value?.wdl;
    } catch {
      return false;
    }
  }

  /** Adds the reply that refutes a wrong move to the message, if the tables know one. @param {string} uci */
  async refute(uci) {
    const [{ fen }, { token }] = [this.node, this];
    const after = play(fen, uci);
    const probe = await get("probe", { fen: after, rules: app.rules }, { signal: token.signal }).catch(() => null);
    const reply = probe?.known && !probe.over && probe.moves?.[0];
    if (!reply || token !== this.token) return;
    this.message = t("puzzle.refuted", { move: notation(fen, uci), reply: notation(after, reply.uci) });
    emit("lesson", this);
    emit("match", null);
  }

  finish() {
    this.drop();
    this.solved = true;
    if (!this.shown) {
      this.count(true);
      keep(STORE, found(progress(), this.puzzle, this.day));
    }
    const isFirst = !progress().missed.includes(this.puzzle.id);
    this.message = t(this.shown ? "puzzle.shown" : isFirst ? "puzzle.first" : "puzzle.solved");
    return this.changed();
  }

  async show() {
    this.shown = true;
    this.count(false);
    keep(STORE, shown(progress(), this.puzzle));
    while (this.step < this.puzzle.solution.length) {
      const paused = this.pause();
      await this.advance(this.puzzle.solution[this.step++]);
      await paused;
    }
    return this.finish();
  }

  again() {
    Object.assign(this, { step: 0, shown: false });
    return super.again();
  }
}
