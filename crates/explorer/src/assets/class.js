// The tasks of a class: endgames that a teacher has put into a link. Pupils win them, or hold the draw, against perfect
// play; this browser keeps their results, which they send back as text.

import { app } from "./app.js";
import { format, parse, underscored } from "./position.js";
import { keep, recall } from "./storage.js";
import { labelled, t } from "./ui.js";

const STORE = "doushouqi.class";

/**
 * The tasks of an address, each a FEN and a title with a colon between them; what has no FEN is left out.
 * @param {string[]} texts
 * @returns {Page.Task[]}
 */
export const readTasks = (texts) =>
  texts.flatMap((text) => {
    const [, fen = "", title = ""] = /^([^:]*):?(.*)$/s.exec(text) ?? [];
    const board = parse(fen);
    return board ? [{ fen: format(board), title }] : [];
  });

/** The tasks as an address contains them. */
export const taskQuery = () => app.tasks.map(({ fen, title }) => ["task", `${underscored(fen)}:${title}`]);

const results = () => recall(STORE, /** @type {Record<string, Page.TaskResult>} */ ({}));

/** @param {{ fen: string }} task */
const keyOf = ({ fen }) => `${fen} ${app.chosen}`;

/**
 * The plies to the win in a position that may be a task, null for a draw; undefined if the tables do not know it.
 * @param {Page.Value | null | undefined} value
 */
export const pliesOf = (value) => (value?.wdl === "draw" ? null : value?.dtw || undefined);

/** The first task that has not been solved. */
export const nextTask = () => app.tasks.find((task) => !results()[keyOf(task)]?.won);

/**
 * Keeps the result of a try at a task, up to the first one that solves it.
 * @param {{ fen: string }} task
 * @param {Omit<Page.TaskResult, "tries">} result
 */
export function noteResult(task, result) {
  const { [keyOf(task)]: before, ...others } = results();
  if (!before?.won) keep(STORE, { ...others, [keyOf(task)]: { ...result, tries: (before?.tries ?? 0) + 1 } });
}

/** The title of a task with its result. @param {Page.Task} task */
export function resultLine(task) {
  const result = results()[keyOf(task)] ?? { won: false, tries: 0 };
  return labelled(task.title, t(result.won ? "class.won" : "class.open", result));
}
