// A tree of variations with a cursor and a history of changes.

import { START, couldPlay, notation, play, splitClock } from "./position.js";

let ids = 0;

/** A position of the tree, and the move that led to it. */
export class GameNode {
  id = ids++;
  /** @type {GameNode[]} The positions after the moves that were tried here; the first is the main line. */
  children = [];
  /** The index of the child with which the shown line continues. */
  chosen = 0;
  /** @type {Page.Knowledge | null} The tables' answer for the position; null before a request. */
  info = null;
  mark = "";
  note = "";

  /**
   * @param {string} fen
   * @param {GameNode | null} [parent]
   * @param {string | null} [uci]
   */
  constructor(fen, parent = null, uci = null) {
    /** @type {string} */
    this.fen = fen;
    /** @type {GameNode | null} */
    this.parent = parent;
    this.uci = uci;
    /** @type {string | null} */
    this.san = parent && uci ? notation(parent.fen, uci) : null;
    /** @type {number} */
    this.ply = parent ? parent.ply + 1 : 0;
  }
}

/**
 * @param {GameNode} node
 * @returns {Page.PackedNode}
 */
const packed = (node) => ({
  uci: node.uci,
  chosen: node.chosen,
  mark: node.mark,
  note: node.note,
  info: node.info,
  children: node.children.map(packed),
});

/**
 * @param {Page.PackedNode} data
 * @param {string} fen
 * @param {GameNode | null} [parent]
 */
function unpacked(data, fen, parent = null) {
  const node = new GameNode(fen, parent, data.uci);
  Object.assign(node, { chosen: data.chosen, mark: data.mark, note: data.note, info: data.info });
  node.children = data.children.map((child) => unpacked(child, play(fen, child.uci ?? ""), node));
  return node;
}

const HISTORY = 200;

export class Game {
  constructor(fen = START) {
    /** @type {Page.Snapshot[]} */
    this.undone = [];
    /** @type {Page.Snapshot[]} */
    this.done = [];
    const { position, clock } = splitClock(fen);
    this.clock = clock;
    this.root = this.cursor = new GameNode(position);
  }

  /**
   * Begins at a FEN, which may have a halfmove clock. The FENs of the nodes have none.
   * @param {string} fen
   */
  begin(fen) {
    const { position, clock } = splitClock(fen);
    this.clock = clock;
    this.root = this.cursor = new GameNode(position);
  }

  /** The FEN that the game begins at, with the halfmove clock if there is one. */
  start() {
    return this.clock ? `${this.root.fen} ${this.clock}` : this.root.fen;
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
    return { fen: this.root.fen, clock: this.clock, tree: packed(this.root), path };
  }

  /**
   * @param {Page.Snapshot} snapshot
   */
  restore({ fen, clock, tree, path }) {
    this.clock = clock;
    this.root = unpacked(tree, fen);
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
   * @param {string} fen
   */
  reset(fen) {
    this.remember();
    this.begin(fen);
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

  /**
   * @param {string} uci
   */
  play(uci) {
    if (!this.cursor.children.some((/** @type {GameNode} */ c) => c.uci === uci)) this.remember();
    return (this.cursor = this.child(this.cursor, uci));
  }

  /**
   * Adds moves after the cursor, which stays; returns the nodes.
   * @param {string[]} moves
   */
  append(moves) {
    this.remember();
    const nodes = [];
    let node = this.cursor;
    for (const uci of moves) {
      if (!couldPlay(node.fen, uci)) break;
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

  /**
   * @param {GameNode} node
   */
  go(node) {
    this.cursor = node;
    for (let n = node; n.parent; n = n.parent) n.parent.chosen = n.parent.children.indexOf(n);
  }

  /**
   * @param {number} ply
   */
  goTo(ply) {
    const line = this.line();
    this.go(line[Math.max(0, Math.min(ply, line.length - 1))]);
  }

  /**
   * Removes a node and all nodes after it.
   * @param {GameNode} node
   */
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

  /**
   * Makes a node's variation the first one.
   * @param {GameNode} node
   */
  promote(node) {
    this.remember();
    for (let n = node; n.parent; n = n.parent) {
      const { children } = n.parent;
      children.unshift(...children.splice(children.indexOf(n), 1));
      n.parent.chosen = 0;
    }
  }
}
