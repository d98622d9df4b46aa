// Games as text, in the format of `dsq`: tags, then moves with their numbers. Variations stand in comments after the
// move that they replace, `{(1. Ea4 Ra6)}`, so that readers of the plain format still read the game.

import { legalMoves } from "./movegen.js";
import { NO_CAPTURE_LIMIT, play, splitClock, START } from "./position.js";
import { readRules } from "./ruleset.js";

/** An example of a game. */
export const EXAMPLE = "1. Eb3 Ra6 2. Rg4 *";

const WIDTH = 80;
/** @type {Record<string, string>} */
const ENDS = {
  den: "den",
  no_pieces: "capture",
  no_move: "no-move",
  repetition: "repetition",
  no_capture: "no-capture",
  resignation: "resignation",
  time: "time",
};

/**
 * @param {string} text
 */
const escaped = (text) => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");

/**
 * "1." before White's move, "1..." before Black's where it comes first.
 * @param {GameNode} node
 * @param {boolean} blackBegins
 * @param {boolean} first
 */
function numbered(node, blackBegins, first) {
  const half = node.ply - 1 + (blackBegins ? 1 : 0);
  if (half % 2 === 0) return [`${half / 2 + 1}.`];
  return first ? [`${(half - 1) / 2 + 1}...`] : [];
}

/**
 * @param {string} text
 */
const escapedComment = (text) => text.replaceAll("\\", "\\\\").replaceAll("}", "\\}").replaceAll("\n", "\\n");

/**
 * The alternative lines to a move, each in parentheses.
 * @param {GameNode} node
 * @param {boolean} blackBegins
 */
function variationsOf(node, blackBegins) {
  const { children, chosen } = /** @type {GameNode} */ (node.parent);
  const others = children[chosen] === node ? children.filter((/** @type {GameNode} */ child) => child !== node) : [];
  return others.map((/** @type {any} */ other) => `(${words(other, blackBegins, false).join(" ")})`);
}

/**
 * The words of a line from a node on. Variations stand in parentheses; at the outermost level they stand inside the
 * comment on the move, before the note. A move has at most one comment.
 * @param {GameNode} first
 * @param {boolean} blackBegins
 * @returns {string[]}
 */
function words(first, blackBegins, isOutermost = true) {
  /** @type {string[]} */
  const list = [];
  let isFirst = true;
  for (let node = first; node; node = node.children[node.chosen]) {
    list.push(...numbered(node, blackBegins, isFirst), node.san ?? "");
    const variations = variationsOf(node, blackBegins);
    if (!isOutermost) list.push(...variations);
    const comment = [...variations, escapedComment(node.note)].filter(Boolean).join(" ");
    if (isOutermost && comment) list.push(`{${comment}}`);
    isFirst = variations.length > 0;
  }
  return list;
}

/**
 * @param {any[]} list
 */
function wrapped(list) {
  const lines = [""];
  for (const word of list) {
    const line = lines.at(-1);
    if (line && line.length + word.length + 1 > WIDTH) lines.push(word);
    else lines[lines.length - 1] = line ? `${line} ${word}` : word;
  }
  return lines.join("\n");
}

/** @type {Record<string, string>} */
const WON = { white: "1-0", black: "0-1" };

/**
 * @param {{root: GameNode, start: string, rules: string, limit?: number | null, white?: string, black?: string,
 *   date?: string, result?: {winner: string | null, reason: string} | null}} game
 */
export function writeGame(game) {
  const { root, start, rules, limit = NO_CAPTURE_LIMIT, white = "", black = "", date = "", result = null } = game;
  // The format has no draws by agreement: such a game is unfinished, with a tag for the reason.
  const counted = result && result.reason in ENDS;
  const score = counted ? (WON[result.winner ?? ""] ?? "1/2-1/2") : "*";
  const tags = [
    ["White", white],
    ["Black", black],
    ["Date", date],
    ["Rules", rules],
    ["NoCaptureLimit", String(limit ?? "none")],
    ["FEN", start === START ? "" : start],
    ["Result", score],
    ["Termination", counted ? ENDS[result.reason] : ""],
    ["Agreement", result?.reason === "agreement" ? "draw" : ""],
  ];
  const head = tags.filter(([, value]) => value).map(([name, value]) => `[${name} "${escaped(value)}"]`);
  const moves = root.children.length ? words(root.children[root.chosen], root.fen.endsWith("b")) : [];
  return `${head.join("\n")}\n\n${wrapped([...moves, score])}\n`;
}

const TAG = /^\s*\[(\w+)\s+"((?:\\.|[^"\\])*)"\]\s*$/gm;

/**
 * @param {string} text
 */
const unescaped = (text) =>
  text.replace(/\\(.)/g, (/** @type {any} */ _, /** @type {any} */ c) => (c === "n" ? "\n" : c));

/**
 * The legal move that a text names in either notation; undefined if there is none.
 * @param {string} fen
 * @param {string} text
 * @param {Page.Rules} rules
 */
function findMove(fen, text, rules) {
  const bare = text.replace(/[x-]/gi, "").toLowerCase();
  return legalMoves(fen, rules).find(({ uci, san }) => uci === bare || san.toLowerCase().replace("x", "") === bare);
}

/**
 * The moves of a text of moves and nested variations, from a position. Throws at a word that is not a move.
 * @param {string} text
 * @param {string} start
 * @param {Page.Rules} rules
 */
function readMoves(text, start, rules) {
  const tokens = text.match(/\{(?:\\.|[^}\\])*\}|[()]|[^\s(){}]+/g) ?? [];
  let at = 0;
  /** @type {(fen: string) => any[]} */
  const line = (fen) => {
    /** @type {any[]} */
    const moves = [];
    let [before, here] = [fen, fen];
    for (; at < tokens.length && tokens[at] !== ")"; at++) {
      const token = tokens[at];
      if (token === "(") {
        at++;
        moves.at(-1)?.variations.push(line(before));
      } else if (token.startsWith("{")) {
        if (moves.length) readComment(token.slice(1, -1), moves.at(-1), before, rules);
      } else if (!/^(1-0|0-1|1\/2-1\/2|\*|\d+\.*)$/.test(token)) {
        const move = findMove(here, token.replace(/^\d+\.+/, "").replace(/[?!]+$/, ""), rules);
        if (!move) throw new SyntaxError(token, { cause: moves.length });
        moves.push({ uci: move.uci, variations: [], note: "" });
        [before, here] = [here, play(here, move.uci)];
      }
    }
    return moves;
  };
  return line(start);
}

/**
 * A comment: variations in parentheses, then a note.
 * @param {string} text
 * @param {any} move
 * @param {string} before
 * @param {Page.Rules} rules
 */
function readComment(text, move, before, rules) {
  let [depth, at] = [0, 0];
  for (; at < text.length && (depth || /[(\s]/.test(text[at])); at++) depth += { "(": 1, ")": -1 }[text[at]] ?? 0;
  for (const group of groupsOf(text.slice(0, at))) move.variations.push(readMoves(group, before, rules));
  move.note = unescaped(text.slice(at));
}

/**
 * The contents of the outermost parentheses of a text.
 * @param {string} text
 */
function groupsOf(text) {
  const groups = [];
  let [depth, start] = [0, 0];
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "(" && depth++ === 0) start = i + 1;
    if (text[i] === ")" && --depth === 0) groups.push(text.slice(start, i));
  }
  return groups;
}

/**
 * The no-capture limit of a tag.
 * @param {string} [text]
 */
const limitOf = (text) => (text === "none" ? null : Number(text) || NO_CAPTURE_LIMIT);

/**
 * Reads a game: `{start, rules, limit, moves, tags}`, where `moves` are `{uci, variations, note}`; null if its rules
 * are invalid, and `{wrong, plies}` for a word that is not a legal move after `plies` plies of its line.
 * @param {string} text
 * @param {string} defaultRules the rules of a game that names none
 */
export function readGame(text, defaultRules) {
  const found = [...text.matchAll(TAG)].map(([, name, value]) => [name, unescaped(value)]);
  const tags = Object.fromEntries(found);
  const body = text.replace(TAG, "");
  const rules = tags.Rules ?? defaultRules;
  const values = readRules(rules);
  if (!values) return null;
  const start = tags.FEN ?? START;
  const { position } = splitClock(start);
  try {
    return { start, rules, limit: limitOf(tags.NoCaptureLimit), tags, moves: readMoves(body, position, values) };
  } catch (error) {
    return error instanceof SyntaxError ? { wrong: error.message, plies: error.cause } : null;
  }
}
