// A tree of variations with a cursor and a history of changes.

import { index, name, NO_CAPTURE_LIMIT, notation, play, splitClock, START, withClock } from "./position.js";
import { readRules } from "./ruleset.js";
import { movesHere } from "./status.js";

let ids = 0;

/** The numeric annotation glyphs 0 to 6 as people write them. */
export const MARKS = ["", "!", "?", "!!", "??", "!?", "?!"];

/** The arrows within a comment, as files of many programs have them. */
const ARROWS = /\[%cal ([^\]]*)\]/;

/** The arrows of a text such as `d2d3,a1g9`, as pairs of squares. @param {string} text */
export const readArrows = (text) =>
  (text.match(/([a-g][1-9]){2}/g) ?? []).map(
    (arrow) => /** @type {[number, number]} */ ([index(arrow.slice(0, 2)), index(arrow.slice(2))]),
  );

/** A position of the tree, and the move that led to it. */
export class GameNode {
  id = ids++;
  /** @type {GameNode[]} The positions after the moves that were tried here; the first is the main line. */
  children = [];
  /** The index of the child with which the shown line continues. */
  chosen = 0;
  /** @type {Page.Knowledge | null} The tables' answer for the position; null before a request. */
  info = null;
  /** @type {number[]} The assessments of the move: numeric annotation glyphs. */
  nags = [];
  /** The comment on the move, or of the first node on the game. */
  comment = "";
  /** Whether assessments and comment are those of a review. */
  reviewed = false;
  /** @type {string[][]} The tags of a result that the rules did not give the game that ended here. */
  ending = [];

  /**
   * @param {string} fen
   * @param {GameNode | null} [parent]
   * @param {string | null} [uci]
   * @param {number} [clock] the halfmove clock of a first position
   */
  constructor(fen, parent = null, uci = null, clock = 0) {
    /** @type {string} */
    this.fen = fen;
    /** @type {GameNode | null} */
    this.parent = parent;
    this.uci = uci;
    /** @type {string | null} */
    this.san = parent && uci ? notation(parent.fen, uci) : null;
    /** @type {number} */
    this.ply = parent ? parent.ply + 1 : 0;
    /** @type {number} The plies since the last capture. */
    this.clock = !parent ? clock : this.san?.includes("x") ? 0 : parent.clock + 1;
  }

  forgetReview() {
    if (this.reviewed) Object.assign(this, { nags: [], comment: "", reviewed: false });
  }

  /** The comment without arrows. */
  get note() {
    return this.comment.replace(ARROWS, "").trim();
  }

  get arrows() {
    return readArrows(ARROWS.exec(this.comment)?.[1] ?? "");
  }

  /**
   * Writes a comment of the user. Braces would end it in a file.
   * @param {string} note
   * @param {[number, number][]} arrows
   */
  annotate(note, arrows) {
    const moves = arrows.map(([from, to]) => `G${name(from)}${name(to)}`);
    const drawn = moves.length ? `[%cal ${moves.join()}]` : "";
    this.comment = [note.replaceAll(/[{}]/g, ""), drawn].filter(Boolean).join(" ");
    this.reviewed = false;
  }

  /** The assessments as people write them. */
  get mark() {
    const marks = this.nags.map((nag) => MARKS[nag] || `$${nag}`).join(" ");
    return marks.startsWith("$") ? ` ${marks}` : marks;
  }
}

/** A first node, from a FEN that may have a halfmove clock. @param {string} fen */
function firstNode(fen) {
  const { position, clock } = splitClock(fen);
  return new GameNode(position, null, null, clock);
}

/** @type {(node: GameNode) => Page.PackedNode} */
const packed = (node) => ({
  uci: node.uci,
  chosen: node.chosen,
  nags: node.nags,
  comment: node.comment,
  reviewed: node.reviewed,
  ending: node.ending,
  children: node.children.map(packed),
});

/** @type {(data: Page.PackedNode, node: GameNode) => GameNode} */
function unpack(data, node) {
  const { chosen, nags, comment, reviewed, ending } = data;
  Object.assign(node, { chosen, nags, comment, reviewed, ending });
  node.children = data.children.map((child) =>
    unpack(child, new GameNode(play(node.fen, child.uci ?? ""), node, child.uci)),
  );
  return node;
}

const HISTORY = 200;

/**
 * The rules as text, those that the user has chosen, the no-capture limit, and of a game that was read its tags, as
 * name and value, and the comment on it.
 * @typedef {{ rules?: string, chosen?: string, limit?: number | null, tags?: string[][], comment?: string }} Terms
 */

/** A game: its first position, rules and no-capture limit, and the tree of its moves. */
export class Game {
  /** @type {Page.Snapshot[]} */
  undone = [];
  /** @type {Page.Snapshot[]} */
  done = [];

  /**
   * @param {string} [fen]
   * @param {Terms} [terms]
   */
  constructor(fen = START, { rules = "paper", limit = NO_CAPTURE_LIMIT } = {}) {
    this.rules = rules;
    /** The rules of the next game: a position may have rules of its own, which its owner returns. */
    this.chosen = rules;
    /** @type {number | null} The plies without a capture that draw the game; null for no limit. */
    this.limit = limit;
    /** @type {string[][]} */
    this.tags = [];
    this.root = this.cursor = firstNode(fen);
  }

  /** Every option of the rules with its value. */
  options(rules = this.rules) {
    return readRules(rules) ?? /** @type {Page.Rules} */ (readRules("paper"));
  }

  /**
   * Begins at a FEN, which may have a halfmove clock. The FENs of the nodes have none.
   * @param {string} fen
   * @param {Terms} [terms]
   */
  begin(fen, { rules = this.rules, chosen = this.chosen, limit = NO_CAPTURE_LIMIT, tags = [], comment = "" } = {}) {
    Object.assign(this, { rules, chosen, limit, tags });
    this.root = this.cursor = Object.assign(firstNode(fen), { comment });
  }

  /** The FEN that the game begins at, with the halfmove clock if there is one. */
  start() {
    return withClock(this.root.fen, this.root.clock);
  }

  /**
   * Adds moves with their variations after a node, up to the first one that is illegal; returns the number of added
   * moves of the main line.
   * @param {GameNode} start
   * @param {(string | Page.TreeMove)[]} moves
   */
  read(start, moves) {
    let node = start;
    let count = 0;
    for (const move of moves) {
      const { uci, nags, comment, variations } = typeof move === "string" ? { uci: move } : move;
      if (!this.allows(node, uci)) break;
      const next = this.child(node, uci);
      if (nags) next.nags = nags;
      if (comment) next.comment = comment;
      for (const variation of variations ?? []) this.read(node, variation);
      node.chosen = node.children.indexOf(next);
      node = next;
      count++;
    }
    return count;
  }

  /**
   * Whether a move is legal after a node. A game may go on after a draw by repetition or by the no-capture limit.
   * @param {GameNode} node
   * @param {string} uci
   */
  allows(node, uci) {
    return movesHere(node, this.options()).some((move) => move.uci === uci);
  }

  /**
   * Continues under other rules. Moves that these forbid are removed with all moves after them, and so are the marks
   * of a review. Returns the first removed move of the shown line, or null.
   * @param {string} rules
   */
  changeRules(rules) {
    this.remember();
    const line = this.line();
    this.rules = this.chosen = rules;
    const options = this.options();
    const prune = (/** @type {GameNode} */ node) => {
      node.forgetReview();
      const legal = node.children.length ? movesHere(node, options).map((move) => move.uci) : [];
      const shown = node.children[node.chosen];
      node.children = node.children.filter((child) => legal.includes(child.uci ?? ""));
      node.chosen = Math.max(0, node.children.indexOf(shown));
      node.children.forEach(prune);
    };
    prune(this.root);
    const removed = line.findIndex((node) => node.parent && !node.parent.children.includes(node));
    if (removed < 0) return null;
    if (this.cursor.ply >= removed) this.cursor = line[removed - 1];
    return line[removed];
  }

  /** To be called before a change, so that it can be undone. */
  remember() {
    this.done.push(this.snapshot());
    if (this.done.length > HISTORY) this.done.shift();
    this.undone = [];
  }

  snapshot() {
    const path = [];
    for (let node = this.cursor; node.parent; node = node.parent) path.unshift(node.parent.children.indexOf(node));
    const { rules, chosen, limit, tags, root } = this;
    return { fen: this.start(), rules, chosen, limit, tags, tree: packed(root), path };
  }

  /** @param {Page.Snapshot} snapshot */
  restore({ fen, rules, chosen, limit, tags, tree, path }) {
    Object.assign(this, { rules, chosen, limit, tags });
    this.root = unpack(tree, firstNode(fen));
    this.cursor = path.reduce((/** @type {GameNode} */ node, /** @type {number} */ i) => node.children[i], this.root);
  }

  undo() {
    return this.swap(this.done, this.undone);
  }

  redo() {
    return this.swap(this.undone, this.done);
  }

  /**
   * @param {Page.Snapshot[]} from
   * @param {Page.Snapshot[]} to
   */
  swap(from, to) {
    if (!from.length) return false;
    to.push(this.snapshot());
    this.restore(/** @type {Page.Snapshot} */ (from.pop()));
    return true;
  }

  /**
   * Begins anew, so that it can be undone.
   * @param {string} fen
   * @param {Terms} [terms]
   */
  reset(fen, terms) {
    this.remember();
    this.begin(fen, terms);
  }

  /**
   * The child of a node after a move, created if it is missing.
   * @param {GameNode} node
   * @param {string} uci
   */
  child(node, uci) {
    let child = node.children.find((/** @type {GameNode} */ c) => c.uci === uci);
    if (!child) {
      child = new GameNode(play(node.fen, uci), node, uci);
      node.children.push(child);
    }
    node.chosen = node.children.indexOf(child);
    return child;
  }

  /** @param {string} uci */
  play(uci) {
    if (!this.cursor.children.some((/** @type {GameNode} */ c) => c.uci === uci)) this.remember();
    return (this.cursor = this.child(this.cursor, uci));
  }

  /**
   * Adds moves after a node, up to the first one that is illegal; returns the nodes. The cursor stays.
   * @param {string[]} moves
   * @param {GameNode} [start]
   */
  append(moves, start = this.cursor) {
    this.remember();
    const nodes = [];
    let node = start;
    for (const uci of moves) {
      if (!this.allows(node, uci)) break;
      nodes.push((node = this.child(node, uci)));
    }
    return nodes;
  }

  /** The nodes of the line that the cursor is on, from the root to its end. */
  line() {
    const line = [];
    for (let node = /** @type {GameNode | null} */ (this.cursor); node; node = node.parent) line.unshift(node);
    for (let node = this.cursor.children[this.cursor.chosen]; node; node = node.children[node.chosen]) line.push(node);
    return line;
  }

  /** @param {GameNode} node */
  go(node) {
    this.cursor = node;
    for (let n = node; n.parent; n = n.parent) n.parent.chosen = n.parent.children.indexOf(n);
  }

  /** Goes to a ply of the line, or to the nearest one. @param {number} ply */
  goTo(ply) {
    const line = this.line();
    this.go(line[Math.max(0, Math.min(ply || 0, line.length - 1))]);
  }

  /** Removes a node and all nodes after it. @param {GameNode} node */
  remove(node) {
    if (!node.parent) return;
    this.remember();
    const { parent } = node;
    let inside = false;
    for (let n = /** @type {GameNode | null} */ (this.cursor); n; n = n.parent) inside ||= n === node;
    if (inside) this.cursor = parent;
    parent.children.splice(parent.children.indexOf(node), 1);
    parent.chosen = 0;
  }

  /** Makes a node's variation the first one. @param {GameNode} node */
  promote(node) {
    this.remember();
    for (let n = node; n.parent; n = n.parent) {
      const { children } = n.parent;
      children.unshift(...children.splice(children.indexOf(n), 1));
      n.parent.chosen = 0;
    }
  }
}
