// Games as text, which the library reads and writes: on the server, or in the module of a page without one.

import { limitParam, post } from "./api.js";
import { readRules, shortest } from "./ruleset.js";
import { download, errorText, toast } from "./ui.js";

/** An example of a game. */
export const EXAMPLE = "1. Eb3 Ra6 2. Rg4 *";

/**
 * A move with what is written about it, and the variations that replace it.
 * @param {GameNode} node
 * @returns {Api.AnnotatedMove}
 */
function annotated(node) {
  const { children, chosen } = /** @type {GameNode} */ (node.parent);
  const others = children[chosen] === node ? children.filter((child) => child !== node) : [];
  return { uci: node.uci ?? "", nags: node.nags, comment: node.comment, variations: others.map(lineFrom) };
}

/** The chosen line from a node on. @param {GameNode} first */
function lineFrom(first) {
  const line = [];
  for (let node = first; node; node = node.children[node.chosen]) line.push(annotated(node));
  return line;
}

/** A game with the line on the board and its variations, as `load` receives it. @param {Game} game */
export function lineOf(game) {
  const { root, rules, limit, tags } = game;
  let end = root;
  while (end.children.length) end = end.children[end.chosen];
  const moves = lineFrom(root.children[root.chosen]);
  return { start: game.start(), rules, limit, tags, ending: end.ending, comment: root.comment, moves };
}

/** @type {Record<string, string>} */
const WON = { white: "1-0", black: "0-1" };

/** The tags of a result that the rules do not give. @param {Page.Result} result */
function endingOf({ winner, reason }) {
  const termination = reason === "agreement" ? "adjudication" : reason;
  if (!["adjudication", "resignation", "time"].includes(termination)) return [];
  return [
    ["Result", WON[winner ?? ""] ?? "1/2-1/2"],
    ["Termination", termination],
  ];
}

/**
 * The text of a game: the line on the board with its variations, assessments and comments.
 * @param {Game} game
 * @param {{ tags?: string[][], result?: Page.Result | null }} [more] the tags, if not those of the game, and the result
 *   of a game that has ended here
 */
export async function writeGame(game, { tags = game.tags, result } = {}) {
  const { start, limit, ending, rules, comment, moves } = lineOf(game);
  const terms = { fen: start, rules, no_capture_limit: limitParam(limit) };
  const body = { ...terms, comment, moves, tags: [...tags, ...(result ? endingOf(result) : ending)] };
  return /** @type {string} */ ((await post("game", body)).text);
}

/**
 * Saves the text of a game as a file, or does something else with it.
 * @param {Game} game
 * @param {Parameters<typeof writeGame>[1]} [more]
 * @param {(text: string) => unknown} [act]
 */
export const saveGame = (game, more, act = (text) => download(text, "game.txt", "text/plain")) =>
  writeGame(game, more).then(act, (error) => toast(errorText(error)));

/** @param {string[]} tag */
const isEnding = ([name]) => name === "Result" || name === "Termination";

/**
 * A game of a text, as `load` receives it, and the number of games in the text.
 * @param {string} text
 * @param {number} number of the game, from 1
 */
export async function readGame(text, number = 1) {
  const {
    fen,
    rules,
    no_capture_limit: limit,
    tags,
    comment,
    moves,
    games,
  } = await post("game", { text, game: number });
  const short = shortest(/** @type {Page.Rules} */ (readRules(rules)));
  const game = { start: fen, rules: short, limit: limit ?? null, comment, moves };
  return { ...game, tags: tags.filter((tag) => !isEnding(tag)), ending: tags.filter(isEnding), games };
}
