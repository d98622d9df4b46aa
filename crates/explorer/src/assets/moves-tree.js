// The tree of variations as text: the first child is the main line, the others stand below it.

import { app, emit, go } from "./app.js";
import { $, button, h, moveText, side, spokenName, t } from "./ui.js";

/** @type {(node: GameNode, first: boolean) => string} */
const numbered = (node, first) => {
  const offset = app.game.root.fen.endsWith("b") ? 1 : 0;
  const half = node.ply - 1 + offset;
  if (half % 2 === 0) return `${half / 2 + 1}. `;
  return first ? `${(half - 1) / 2 + 1}… ` : "";
};

/** @param {GameNode} node */
const comment = (node) => (node.note ? h("span", { class: "soft comment" }, ` ${node.note}`) : "");

/** @type {(node: GameNode, first: boolean) => Page.Child[]} */
function moveButton(node, first) {
  const current = node === app.game.cursor;
  return [
    h("span", { class: "no" }, numbered(node, first)),
    button(moveText(node.san + node.mark), () => go(node), {
      "aria-label": spokenName(node.san + node.mark),
      "aria-current": current ? "true" : null,
      "data-key": node.id,
      onkeydown: (event) => {
        // A game or an exercise owns its moves.
        if (app.controller) return;
        if (event.key === "Delete") {
          app.game.remove(node);
          emit("tree");
          emit("trimmed");
        }
        if (event.key === "Enter" && event.ctrlKey) {
          app.game.promote(node);
          emit("tree");
        }
      },
    }),
    comment(node),
    " ",
  ];
}

/** @type {(node: GameNode, first: boolean) => Page.Child[]} */
function sequence(node, first) {
  /** @type {Page.Child[]} */
  const parts = [];
  let numberNext = first;
  for (let n = node; n; n = n.children[0]) {
    parts.push(moveButton(n, numberNext));
    numberNext = false;
    const siblings = n.parent?.children ?? [];
    const rest = siblings[0] === n ? siblings.slice(1) : [];
    if (n !== node || first)
      for (const other of rest) {
        parts.push(h("span", { class: "variation" }, sequence(other, true)));
        numberNext = true;
      }
  }
  return parts;
}

/** The moves of the game, or what to do without any. */
export function moveTree() {
  const { root } = app.game;
  if (!root.children.length) return h("p", { class: "soft" }, t("variations.none", { side: side(root.fen.slice(-1)) }));
  return h("div", {}, comment(root), " ", sequence(root.children[0], true));
}

/** Scrolls the move that led to the shown position into view. @param {HTMLElement} host */
export function showCurrent(host) {
  const current = $("[aria-current]", host);
  if (current) host.scrollTop = Math.max(0, current.offsetTop - host.offsetTop - host.clientHeight / 2);
}
