// Learn: the tutorial of the rules, puzzles, and endgames against perfect play.

import { app, mayLeave, on, rules } from "./app.js";
import { lessonsOf } from "./lessons.js";
import { choosePuzzle, dailyPuzzle, fitting, progress, Puzzle, today } from "./puzzles.js";
import { keep, recall } from "./storage.js";
import { findEndgame, Trainer } from "./trainer.js";
import { Tutorial } from "./tutorial.js";
import { $, announce, button, errorText, h, listed, t } from "./ui.js";

export const key = "learn";

const DONE = "doushouqi.lessons";
/** @type {Record<string, any>} */
const choice = { puzzle: 0, trainer: 1 };
/** @type {any} The exercise on the board, or null. */
let exercise = null;
const trouble = { puzzle: "", trainer: "" };

export function startLearn() {
  on("lesson", (/** @type {any} */ now) => {
    exercise = now;
    if (now instanceof Tutorial && now.solved) markDone(now.lesson.key);
    if (now?.message) announce(now.message);
    redraw();
  });
  on("train", train);
  for (const event of ["rules", "language", "gameover"]) on(event, redraw);
}

function redraw() {
  if (!$("#learn")) return;
  const focused = document.activeElement?.id;
  $("#learn").replaceChildren(...content());
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

export const build = () => [h("div", { id: "learn", class: "play" }, content())];

export function update() {
  // The panel changes with the exercise, not with each position.
}

const content = () => [exerciseSection(), tutorialSection(), puzzleSection(), trainerSection()].filter(Boolean);

function doneLessons() {
  const done = recall(DONE, []);
  return Array.isArray(done) ? done : [];
}

/**
 * @param {string} key
 */
const markDone = (key) => keep(DONE, [...new Set([...doneLessons(), key])]);

/** The task of the exercise on the board, and the next step. */
function exerciseSection() {
  if (!exercise || app.controller !== exercise) return null;
  if (exercise instanceof Tutorial) return lessonText(exercise);
  if (exercise instanceof Puzzle) return puzzleText(exercise);
  return null;
}

/**
 * @param {string} id
 * @param {string} title
 * @param {...any} children
 */
function section(id, title, ...children) {
  return h("section", { "aria-labelledby": id }, h("h3", { id }, title), children);
}

/**
 * @param {any} tutorial
 */
function lessonText(tutorial) {
  const list = lessonsOf(rules());
  const at = list.findIndex((lesson) => lesson.key === tutorial.lesson.key);
  const next = list[at + 1];
  const { key: name, most, texts } = tutorial.lesson;
  const goOn = () => new Tutorial(next).begin();
  const task = tutorial.message || t(`lesson.${name}.task`, { n: most });
  return section(
    "exercisehead",
    t("lesson.number", { n: at + 1, of: list.length, title: t(`lesson.${name}`) }),
    texts.map((/** @type {string} */ text) => h("p", {}, t(text))),
    h("p", { id: "exercisetext", class: tutorial.solved ? "solved" : null }, task),
    h(
      "div",
      { class: "bar" },
      tutorial.solved && next ? button(t("lesson.next"), goOn, { id: "nextlesson", class: "main" }) : "",
      button(t("exercise.again"), () => tutorial.again(), { id: "againlesson" }),
      button(t("exercise.close"), () => tutorial.close(), { id: "closeexercise" }),
    ),
  );
}

/**
 * "+12" or "−7".
 * @param {number} points
 */
const signed = (points) => (points < 0 ? "−" : "+") + Math.abs(points);

/**
 * @param {Puzzle} puzzle
 */
function puzzleText(puzzle) {
  const named = (/** @type {string} */ theme) =>
    t(`theme.${theme}`) === `theme.${theme}` ? theme : t(`theme.${theme}`);
  const themes = (puzzle.puzzle.themes ?? []).map(named);
  const close = () => puzzle.close();
  const buttons = puzzle.solved
    ? [
        button(t("puzzle.next"), nextPuzzle, { id: "nextpuzzle", class: "main" }),
        button(t("exercise.again"), () => puzzle.again()),
        button(t("exercise.analyse"), close, { id: "analysepuzzle" }),
      ]
    : [
        button(t("puzzle.show"), () => puzzle.show(), { id: "showpuzzle" }),
        button(t("exercise.close"), close, { id: "closeexercise" }),
      ];
  return section(
    "exercisehead",
    t(puzzle.day ? "puzzle.title.daily" : "puzzle.title", {
      n: puzzle.puzzle.difficulty,
      material: puzzle.puzzle.material,
    }),
    h("p", { id: "exercisetext", class: puzzle.solved ? "solved" : null }, puzzle.headline()),
    puzzle.gained === null
      ? ""
      : h("p", { id: "puzzlegain" }, t("puzzle.gained", { n: progress().rating, change: signed(puzzle.gained) })),
    puzzle.solved ? h("p", { class: "soft" }, puzzle.text(), themes.length ? ` · ${listed(themes)}` : "") : "",
    h("div", { class: "bar" }, buttons),
  );
}

function tutorialSection() {
  const done = doneLessons();
  const start = (/** @type {any} */ lesson) =>
    button(t(`lesson.${lesson.key}`), async () => (await mayLeave()) && new Tutorial(lesson).begin(), {
      class: "plain",
      "data-lesson": lesson.key,
    });
  const item = (/** @type {any} */ lesson) =>
    h("li", {}, start(lesson), done.includes(lesson.key) ? h("span", { class: "soft" }, ` ✓ ${t("lesson.done")}`) : "");
  return section(
    "tutorialhead",
    t("lesson.head"),
    h("p", { class: "soft" }, t("lesson.help")),
    h("ol", { class: "lessons" }, lessonsOf(rules()).map(item)),
  );
}

/**
 * The choice of a difficulty. Puzzles may fit the user, which is 0.
 * @param {string} name
 */
function difficulties(name) {
  const onchange = (/** @type {any} */ event) => {
    choice[name] = Number(event.target.value);
  };
  return h(
    "select",
    { id: `${name}level`, "aria-label": t("difficulty"), onchange },
    (name === "puzzle" ? [0, 1, 2, 3, 4, 5] : [1, 2, 3, 4, 5]).map((n) =>
      h("option", { value: n, selected: n === choice[name] }, t(`difficulty.${n}`)),
    ),
  );
}

function puzzleSection() {
  const { solved, first, rating, streak, best, day } = progress();
  const isDone = day === today();
  const known = [
    t("puzzle.rating", { n: rating }),
    solved.length ? t("puzzle.progress", { n: solved.length, first }) : "",
    best > 1 ? t("puzzle.streak", { n: streak, best }) : "",
  ];
  return section(
    "puzzlehead",
    t("puzzle"),
    h("p", { class: "soft" }, t("puzzle.help")),
    h(
      "div",
      { class: "bar" },
      difficulties("puzzle"),
      button(t("puzzle.start"), nextPuzzle, { id: "puzzlestart", class: "main" }),
      button(t(isDone ? "puzzle.daily.done" : "puzzle.daily"), playDaily, { id: "dailypuzzle" }),
    ),
    h("p", { class: "soft", role: "status", id: "puzzlestate" }, trouble.puzzle || known.filter(Boolean).join(" ")),
  );
}

const nextPuzzle = () => startPuzzle(() => choosePuzzle(choice.puzzle || fitting(progress().rating)));

const playDaily = () => startPuzzle(() => dailyPuzzle(), today());

/**
 * Puts a puzzle on the board.
 * @param {() => Promise<Page.Puzzle | null>} choose
 * @param {string} [day] the day whose puzzle it is
 */
async function startPuzzle(choose, day) {
  if (!(await mayLeave())) return undefined;
  try {
    const puzzle = await choose();
    trouble.puzzle = puzzle ? "" : t("puzzle.none");
    if (puzzle) return new Puzzle(puzzle, day).begin();
  } catch (error) {
    trouble.puzzle = errorText(error);
  }
  return redraw();
}

function trainerSection() {
  return section(
    "trainerhead",
    t("trainer"),
    h("p", { class: "soft" }, t("trainer.help")),
    h(
      "div",
      { class: "bar" },
      difficulties("trainer"),
      button(t("trainer.start"), train, { id: "trainerstart", class: "main" }),
    ),
    h("p", { class: "soft", role: "status" }, trouble.trainer),
  );
}

async function train() {
  if (!(await mayLeave())) return undefined;
  try {
    const found = await findEndgame(choice.trainer);
    trouble.trainer = found ? "" : t("trainer.none");
    if (found) return await new Trainer(found, choice.trainer).begin();
  } catch (error) {
    trouble.trainer = errorText(error);
  }
  return redraw();
}
