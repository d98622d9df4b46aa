// A line with its variations as text for addresses and stored games: moves with dots between them, and after a move its
// comment in braces and its alternatives in parentheses: `d2d3{why}(d2c2.d8c8).d8c8`.

/** The comment of a node in braces, without its own ones, unless a review has written it. @param {GameNode} node */
export const commentText = ({ comment, reviewed }) =>
  comment && !reviewed ? `{${comment.replaceAll(/[{}]/g, "")}}` : "";

/**
 * The moves after a node, along the chosen line; if not `bare`, with comments and every other line.
 * @param {GameNode} node
 * @returns {string}
 */
export function treeText(node, bare = false) {
  const parts = [];
  const moveOf = (/** @type {GameNode} */ child) => child.uci + (bare ? "" : commentText(child));
  for (let n = node; n.children.length; n = n.children[n.chosen]) {
    const main = n.children[n.chosen];
    const others = bare ? [] : n.children.filter((child) => child !== main);
    const variation = (/** @type {GameNode} */ child) =>
      `(${[moveOf(child), treeText(child)].filter(Boolean).join(".")})`;
    parts.push(moveOf(main) + others.map(variation).join(""));
  }
  return parts.join(".");
}

/** The moves of a text in the form of `treeText`. A word that is not a move ends its line. @param {string} text */
export function parseTree(text) {
  const tokens = text.match(/\{[^}]*\}|[a-g][1-9][a-g][1-9]|[()]|[^.()]+/g) ?? [];
  let at = 0;
  /** @returns {Page.TreeMove[]} */
  const line = () => {
    /** @type {Page.TreeMove[]} */
    const moves = [];
    for (; at < tokens.length && tokens[at] !== ")"; at++) {
      const last = moves.at(-1);
      if (last && /^\{.*\}$/s.test(tokens[at])) last.comment = tokens[at].slice(1, -1);
      else if (tokens[at] !== "(") moves.push({ uci: tokens[at], variations: [] });
      else {
        at++;
        const variation = line();
        last?.variations?.push(variation);
      }
    }
    return moves;
  };
  return line();
}
