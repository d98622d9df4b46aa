// The lessons of the tutorial: small positions in which only White moves. Texts and positions follow the rules.

/**
 * @typedef {Record<string, string>} Rules every option with its value
 * @typedef {object} Lesson
 * @property {string} key names the strings `lesson.<key>` and `lesson.<key>.text`
 * @property {string | ((rules: Rules) => string)} fen the position
 * @property {{reach?: string, capture?: string, den?: boolean}} goal a square that the piece has to reach, a black
 *   piece that has to be captured, or Black's den
 * @property {number} most the most moves
 * @property {(rules: Rules) => boolean} [applies] whether the lesson makes sense under the rules
 * @property {(rules: Rules) => string[]} [more] further strings, which depend on the rules
 */

/** @type {Lesson[]} */
const LESSONS = [
  { key: "step", fen: "e6/7/7/7/7/3C3/7/7/7 w", goal: { reach: "d6" }, most: 2 },
  {
    key: "capture",
    fen: "7/7/7/7/3c3/3D3/3t3/7/7 w",
    goal: { capture: "c" },
    most: 1,
    more: (rules) => [`lesson.capture.dog.${rules["dog-over-wolf"]}`],
  },
  {
    key: "rat",
    fen: "6c/7/7/7/e6/R6/7/7/7 w",
    goal: { capture: "e" },
    most: 1,
    more: (rules) => [`lesson.rat.elephant.${rules["elephant-takes-rat"]}`],
  },
  { key: "swim", fen: "6e/7/7/7/7/R6/7/7/7 w", goal: { reach: "d4" }, most: 3 },
  {
    key: "shore",
    fen: "6c/7/7/7/7/eR5/7/7/7 w",
    goal: { capture: "e" },
    most: 3,
    more: (rules) => [`lesson.shore.${rules.shore}`],
  },
  { key: "leap", fen: "6e/7/1w5/7/7/7/1L5/7/7 w", goal: { capture: "w" }, most: 1 },
  {
    key: "tiger",
    most: 1,
    applies: (rules) => rules["tiger-leap"] !== "none",
    fen: (rules) => (rules["tiger-leap"] === "files" ? "6e/7/4d2/7/7/7/4T2/7/7 w" : "6e/7/7/7/T2d3/7/7/7/7 w"),
    goal: { capture: "d" },
    more: (rules) => [`lesson.tiger.${rules["tiger-leap"]}`],
  },
  {
    key: "block",
    fen: "6e/7/7/7/1r5/7/1L5/7/7 w",
    goal: { reach: "b7" },
    most: 3,
    more: (rules) => [`lesson.block.${rules["own-rat-blocks"]}`],
  },
  {
    key: "trap",
    fen: "6d/7/7/7/7/7/3C3/3e3/7 w",
    goal: { capture: "e" },
    most: 1,
    applies: (rules) => rules.traps !== "none",
    more: (rules) => [`lesson.trap.${rules.traps}`],
  },
  { key: "den", fen: "e6/7/3W3/7/7/7/7/7/7 w", goal: { den: true }, most: 2 },
  {
    key: "end",
    fen: "7/7/7/7/3r3/7/2L4/7/7 w",
    goal: { capture: "r" },
    most: 3,
    more: (rules) => [`lesson.end.move.${rules["no-move"]}`, `lesson.end.repetition.${rules.repetition}`],
  },
];

/**
 * The lessons under rules, with position and strings. What is taught otherwise under other rules has another `id`.
 * @param {Page.Rules} rules
 */
export const lessonsOf = (rules) =>
  LESSONS.filter((lesson) => !lesson.applies || lesson.applies(rules)).map((lesson) => {
    const texts = [`lesson.${lesson.key}.text`, ...(lesson.more?.(rules) ?? [])];
    return { ...lesson, texts, id: texts.join(), fen: typeof lesson.fen === "string" ? lesson.fen : lesson.fen(rules) };
  });
