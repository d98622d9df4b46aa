// A tree of variations with a cursor, and what was done to it.

import { START, couldPlay, notation, play, splitClock } from "./position.js";

let ids = 0;

class Node {
  constructor(fen, parent = null, uci = null) {
    Object.assign(this, { id: ids++, fen, parent, uci, children: [], chosen: 0, info: null, mark: "", note: "" });
    this.san = uci ? notation(parent.fen, uci) : null;
    this.ply = parent ? parent.ply + 1 : 0;
  }
}

const packed = (node) => ({
  uci: node.uci, chosen: node.chosen, mark: node.mark, note: node.note, info: node.info, children: node.children.map(packed),
});

function unpacked(data, fen, parent = null) {
  const node = new Node(fen, parent, data.uci);
  Object.assign(node, { chosen: data.chosen, mark: data.mark, note: data.note, info: data.info });
  node.children = data.children.map((child) => unpacked(child, play(fen, child.uci), node));
  return node;
}

const HISTORY = 200;

export class Game {
  constructor(fen = START) {
    this.undone = [];
    this.done = [];
    this.begin(fen);
  }

  /** Begins at a FEN, which may have a halfmove clock; those of the nodes have none. */
  begin(fen) {
    const { position, clock } = splitClock(fen);
    this.clock = clock;
    this.root = this.cursor = new Node(position);
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

  restore({ fen, clock, tree, path }) {
    this.clock = clock;
    this.root = unpacked(tree, fen);
    this.cursor = path.reduce((node, i) => node.children[i], this.root);
  }

  undo() {
    return this.swap(this.done, this.undone);
  }

  redo() {
    return this.swap(this.undone, this.done);
  }

  swap(from, to) {
    if (!from.length) return false;
    to.push(this.snapshot());
    this.restore(from.pop());
    return true;
  }

  reset(fen) {
    this.remember();
    this.begin(fen);
  }

  /** The child of a node after a move, made if it is not there yet. */
  child(node, uci) {
    let child = node.children.find((c) => c.uci === uci);
    if (!child) {
      child = new Node(play(node.fen, uci), node, uci);
      node.children.push(child);
    }
    node.chosen = node.children.indexOf(child);
    return child;
  }

  play(uci) {
    if (!this.cursor.children.some((c) => c.uci === uci)) this.remember();
    return (this.cursor = this.child(this.cursor, uci));
  }

  /** Adds moves after the cursor, which stays; returns the nodes. */
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
    for (let node = this.cursor; node; node = node.parent) line.unshift(node);
    for (let node = this.cursor.children[this.cursor.chosen]; node; node = node.children[node.chosen]) line.push(node);
    return line;
  }

  go(node) {
    this.cursor = node;
    for (let n = node; n.parent; n = n.parent) n.parent.chosen = n.parent.children.indexOf(n);
  }

  goTo(ply) {
    const line = this.line();
    this.go(line[Math.max(0, Math.min(ply, line.length - 1))]);
  }

  /** Takes a node and all after it away. */
  remove(node) {
    if (!node.parent) return;
    this.remember();
    const { parent } = node;
    let inside = false;
    for (let n = this.cursor; n; n = n.parent) inside ||= n === node;
    if (inside) this.cursor = parent;
    parent.children.splice(parent.children.indexOf(node), 1);
    parent.chosen = 0;
  }

  /** Makes a node's variation the first one. */
  promote(node) {
    this.remember();
    for (let n = node; n.parent; n = n.parent) {
      const { children } = n.parent;
      children.unshift(...children.splice(children.indexOf(n), 1));
      n.parent.chosen = 0;
    }
  }
}
