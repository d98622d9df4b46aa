// Learn: the tutorial of the rules, puzzles, and endgames against perfect play.

import { get } from "./api.js";
import { app, emit, fen, mayLeave, on, want } from "./app.js";
import { nextTask, pliesOf, resultLine, taskQuery } from "./class.js";
import { lessonsOf } from "./lessons.js";
import { LEVELS } from "./levels.js";
import { addressOf, write } from "./link.js";
import { won } from "./movegen.js";
import { line } from "./owner.js";
import { begin as beginGame, isTask } from "./panel-play.js";
import { material } from "./position.js";
import { choosePuzzle, dailyPuzzle, drawPuzzles, fitting, progress, Puzzle } from "./puzzles.js";
import { solutionOf, THEMES, today } from "./puzzles.js";
import { printSheet } from "./sheet.js";
import { keep, recall } from "./storage.js";
import { findEndgame, Trainer } from "./trainer.js";
import { Tutorial } from "./tutorial.js";
import { announce, bar, button, copy, errorText, h, listed, renew, section, select } from "./ui.js";
import { labelled, t, teams, toast } from "./ui.js";

export const key = "learn";

/** The most tasks of a link, which a server has to accept. */
const MOST_TASKS = 12;

const DONE = "doushouqi.lessons";
const choice = { puzzle: 0, theme: "", trainer: 1, title: "" };
/** @type {Exercise | null} The exercise on the board. */
let exercise = null;
const trouble = { puzzle: "", trainer: "", class: "" };

export function startLearn() {
  on("lesson", (now) => {
    exercise = now;
    if (now instanceof Tutorial && now.solved) markDone(now.lesson.id);
    if (now?.message) announce(now.message);
    redraw();
  });
  on("train", (endgame) => (endgame ? new Trainer(endgame).start() : isTask(app.finished) ? playTask() : train()));
  on(["rules", "language", "gameover"], redraw);
  // It may be another day.
  document.addEventListener("visibilitychange", redraw);
}

/** @type {() => void} */
const redraw = () => renew("#learn", content);

export const build = () => [h("div", { id: "learn", class: "play", tabindex: -1 }, content())];

function content() {
  const [sections, tasks] = [[tutorialSection(), puzzleSection(), trainerSection()], classSection()];
  return [exerciseSection(), ...(app.tasks.length ? [tasks, ...sections] : [...sections, tasks])];
}

function doneLessons() {
  const done = recall(DONE, /** @type {string[]} */ ([]));
  return Array.isArray(done) ? done : [];
}

/** @param {string} id */
const markDone = (id) => keep(DONE, [...new Set([...doneLessons(), id])]);

/** The task of the exercise on the board, and the next step. */
function exerciseSection() {
  if (!exercise || app.controller !== exercise) return null;
  if (exercise instanceof Tutorial) return lessonText(exercise);
  if (exercise instanceof Puzzle) return puzzleText(exercise);
  return null;
}

/** The lessons under the rules that the user has chosen. */
const lessons = () => lessonsOf(app.game.options(app.chosen));

/**
 * Begins the exercise again that the page showed before a reload; null without one.
 * @param {Page.Kept} kept as `identity` returns it
 */
export function resume({ before, lesson, puzzle, day, endgame }) {
  if (endgame) return new Trainer(endgame).begin();
  const taught = lessons().find(({ key: name }) => name === lesson);
  const again = puzzle ? new Puzzle(puzzle, day) : taught ? new Tutorial(taught) : null;
  return again && Object.assign(again, { before }).begin();
}

/** After the last lesson: a game against the weakest opponent. */
function firstGame() {
  emit("opentab", "play");
  return beginGame({ you: "w", level: LEVELS[0].key, time: "", from: "start" });
}

/** @param {Tutorial} tutorial */
function lessonText(tutorial) {
  const list = lessons();
  const at = list.findIndex((lesson) => lesson.key === tutorial.lesson.key);
  const next = list[at + 1];
  const { key: name, most, texts } = tutorial.lesson;
  const goOn = () => new Tutorial(next).begin();
  const task = tutorial.message || t(`lesson.${name}.task`, { n: most });
  return section(
    "exercisehead",
    t("lesson.number", { n: at + 1, of: list.length, title: t(`lesson.${name}`) }),
    texts.map((text) => h("p", {}, t(text))),
    h("p", { id: "exercisetext", class: tutorial.solved ? "solved" : null }, task),
    bar(
      tutorial.solved && next ? button(t("lesson.next"), goOn, { id: "nextlesson", class: "main" }) : "",
      tutorial.solved && !next ? button(t("lesson.game"), firstGame, { id: "firstgame", class: "main" }) : "",
      button(t("exercise.again"), () => tutorial.again(), { id: "againlesson" }),
      button(t("exercise.close"), () => tutorial.close(), { id: "closeexercise" }),
    ),
  );
}

/** "+12" or "−7". @param {number} points */
const signed = (points) => (points < 0 ? "−" : "+") + Math.abs(points);

/** @param {Puzzle} puzzle */
function puzzleText(puzzle) {
  const named = (/** @type {string} */ theme) =>
    t(`theme.${theme}`) === `theme.${theme}` ? theme : t(`theme.${theme}`);
  const themes = (puzzle.puzzle.themes ?? []).map(named);
  const analyse = () => {
    puzzle.close({ keep: true });
    emit("opentab", "position");
  };
  const buttons = puzzle.solved
    ? [
        button(t("puzzle.start"), nextPuzzle, { id: "nextpuzzle", class: "main" }),
        button(t("exercise.again"), () => puzzle.again(), { id: "againpuzzle" }),
        button(t("tab.analyse"), analyse, { id: "analysepuzzle" }),
      ]
    : [
        button(t("puzzle.show"), () => puzzle.show(), { id: "showpuzzle" }),
        button(t("exercise.close"), () => puzzle.close(), { id: "closeexercise" }),
      ];
  return section(
    "exercisehead",
    t(puzzle.day ? "puzzle.title.daily" : "puzzle.title", {
      n: puzzle.puzzle.difficulty,
      material: teams(puzzle.puzzle.material),
    }),
    h("p", { id: "exercisetext", class: puzzle.solved ? "solved" : null }, puzzle.headline()),
    puzzle.gained === null
      ? ""
      : h("p", { id: "puzzlegain" }, t("puzzle.gained", { n: progress().rating, change: signed(puzzle.gained) })),
    puzzle.solved
      ? h("p", { class: "soft" }, solutionOf(puzzle.puzzle), themes.length ? ` · ${listed(themes)}` : "")
      : "",
    bar(buttons),
    puzzle.solved && !won(puzzle.node.fen) ? h("p", { class: "soft" }, t("puzzle.rest")) : "",
  );
}

function tutorialSection() {
  const done = doneLessons();
  /** @type {(lesson: Tutorial["lesson"]) => HTMLElement} */
  const item = (lesson) => {
    const begin = async () => (await mayLeave()) && new Tutorial(lesson).begin();
    const start = button(t(`lesson.${lesson.key}`), begin, { class: "plain", "data-lesson": lesson.key });
    return h("li", {}, start, done.includes(lesson.id) ? h("span", { class: "soft" }, ` ✓ ${t("lesson.done")}`) : "");
  };
  return section(
    "tutorialhead",
    t("lesson.head"),
    h("p", { class: "soft" }, t("lesson.help")),
    h("ol", { class: "lessons" }, lessons().map(item)),
  );
}

/** The choice of a difficulty. Puzzles may fit the user, which is 0. @param {"puzzle" | "trainer"} name */
function difficulties(name) {
  const grades = name === "puzzle" ? [0, 1, 2, 3, 4, 5] : [1, 2, 3, 4, 5];
  const attributes = { id: `${name}level`, "aria-label": t("difficulty") };
  const act = (/** @type {string} */ value) => (choice[name] = Number(value));
  return select(grades, choice[name], act, attributes, (n) => t(`difficulty.${n}`));
}

/** The choice of a theme. */
function themes() {
  const attributes = { id: "puzzletheme", "aria-label": t("theme.puzzles") };
  const text = (/** @type {string} */ name) => t(`theme.${name || "any"}`);
  return select(["", ...THEMES], choice.theme, (value) => (choice.theme = value), attributes, text);
}

function puzzleSection() {
  const { solved, missed, rating, streak, best, day } = progress();
  const first = solved.filter((id) => !missed.includes(id)).length;
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
    bar(
      difficulties("puzzle"),
      themes(),
      button(t("puzzle.start"), nextPuzzle, { id: "puzzlestart", class: "main" }),
      button(t(isDone ? "puzzle.daily.done" : "puzzle.daily"), playDaily, { id: "dailypuzzle" }),
      button(t("sheet.print"), print, { id: "printpuzzles" }),
    ),
    h("p", { class: "soft", role: "status", id: "puzzlestate" }, trouble.puzzle || known.filter(Boolean).join(" ")),
  );
}

/** The difficulty of the next puzzle: the chosen one, or else one that fits the user; null with a theme alone. */
const wanted = () => choice.puzzle || (choice.theme ? null : fitting(progress().rating));

const nextPuzzle = () =>
  start(
    "puzzle",
    (signal) => choosePuzzle(wanted(), choice.theme, signal),
    (puzzle) => new Puzzle(puzzle).begin(),
  );

/** Prints as many puzzles as fit a page. What is on the board stays there. */
const print = () =>
  start(
    "puzzle",
    async (signal) => {
      const puzzles = await drawPuzzles(wanted(), choice.theme, 6, signal);
      return puzzles.length ? puzzles : null;
    },
    printSheet,
    (make) => line.ask(make),
  );

function playDaily() {
  const day = today();
  return start(
    "puzzle",
    (signal) => dailyPuzzle(day, signal),
    (puzzle) => new Puzzle(puzzle, day).begin(),
  );
}

/**
 * Asks for a puzzle or an endgame, and begins with it.
 * @template T
 * @param {keyof typeof trouble} name
 * @param {(signal: AbortSignal) => Promise<T | null>} find
 * @param {(found: T) => unknown} begin
 * @param {(make: (signal: AbortSignal) => Promise<T | null>) => Promise<T | null>} [ask]
 */
async function start(name, find, begin, ask = want) {
  try {
    const found = await ask(find);
    trouble[name] = found ? "" : t(`${name}.none`);
    if (found) return begin(found);
  } catch (error) {
    trouble[name] = errorText(error);
  }
  return redraw();
}

function trainerSection() {
  return section(
    "trainerhead",
    t("trainer"),
    h("p", { class: "soft" }, t("trainer.help")),
    bar(difficulties("trainer"), button(t("trainer.start"), train, { id: "trainerstart", class: "main" })),
    h("p", { class: "soft", role: "status" }, trouble.trainer),
  );
}

/** The tasks of a class: a teacher adds positions and copies their link, pupils play them and copy their results. */
function classSection() {
  const { tasks } = app;
  const label = t("class.title");
  /** @type {Page.Attributes["oninput"]} */
  const oninput = ({ target }) => (choice.title = target.value);
  const names = { "aria-label": label, placeholder: label };
  const set = (/** @type {Page.Task[]} */ now) => {
    app.tasks = now;
    write();
    redraw();
  };
  const title = h("input", { id: "tasktitle", maxlength: 40, value: choice.title, oninput, ...names });
  const add = () => {
    if (pliesOf(app.probe?.value) === undefined) return toast(t("class.none"));
    if (tasks.length >= MOST_TASKS) return toast(t("error.too_large"));
    const task = { fen: fen(), title: choice.title.trim() || teams(material(fen())) };
    choice.title = "";
    set([...tasks, task]);
  };
  const link = () => location.origin + addressOf([["view", "learn"], ["rules", app.chosen], ...taskQuery()]);
  const item = (/** @type {Page.Task} */ task, /** @type {number} */ i) => {
    const drop = () => set(tasks.filter((other) => other !== task));
    const up = () => set([...tasks.slice(0, i - 1), task, tasks[i - 1], ...tasks.slice(i + 1)]);
    const named = (/** @type {string} */ key) => ({ "aria-label": labelled(t(key), task.title) });
    return h(
      "li",
      {},
      button(resultLine(task), () => playTask(task), { class: "plain" }),
      button(t("stored.delete"), drop, named("stored.delete")),
      i ? button("↑", up, { ...named("class.up"), "data-key": `up ${task.fen}` }) : "",
    );
  };
  return section(
    "classhead",
    t("class"),
    h("p", { class: "soft" }, t("class.help")),
    h("ol", { class: "lessons", id: "tasks" }, tasks.map(item)),
    bar(
      title,
      button(t("class.add"), add, { id: "taskadd" }),
      tasks.length ? button(t("share.copy"), () => copy(link()), { id: "classlink" }) : "",
      tasks.length ? button(t("class.results"), () => copy(tasks.map(resultLine).join("\n")), { id: "results" }) : "",
    ),
    h("p", { class: "soft", role: "status" }, trouble.class),
  );
}

/** Begins a task of the class, against perfect play. */
const playTask = (task = nextTask()) =>
  start(
    "class",
    async (signal) => {
      if (!task) return null;
      const { value } = await get("probe", { fen: task.fen, rules: app.chosen }, { signal });
      const plies = pliesOf(value);
      return plies === undefined ? null : { ...task, rules: app.chosen, plies };
    },
    (endgame) => new Trainer(endgame).start(),
  );

const train = () =>
  start(
    "trainer",
    (signal) => findEndgame(choice.trainer, app.chosen, signal),
    (endgame) => new Trainer(endgame).start(),
  );
