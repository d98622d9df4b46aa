// A line with its variations as text for addresses and stored games: moves with dots between them, and after a move its
// alternatives in parentheses: `d2d3(d2c2.d8c8).d8c8`.

/**
 * The moves after a node, along the chosen line, with every other line in parentheses.
 * @param {GameNode} node
 * @returns {string}
 */
export function treeText(node, alternatives = true) {
  const parts = [];
  for (let n = node; n.children.length; n = n.children[n.chosen]) {
    const main = n.children[n.chosen];
    const others = alternatives ? n.children.filter((/** @type {GameNode} */ child) => child !== main) : [];
    const variation = (/** @type {GameNode} */ child) => `(${[child.uci, treeText(child)].filter(Boolean).join(".")})`;
    parts.push(main.uci + others.map(variation).join(""));
  }
  return parts.join(".");
}

/**
 * The moves of a text in the form of `treeText`, as `{uci, variations}`. A word that is not a move ends its line.
 * @param {string} text
 */
export function parseTree(text) {
  const tokens = text.match(/[a-g][1-9][a-g][1-9]|[()]|[^.()]+/g) ?? [];
  let at = 0;
  /** @returns {Page.TreeMove[]} */
  const line = () => {
    /** @type {Page.TreeMove[]} */
    const moves = [];
    for (; at < tokens.length && tokens[at] !== ")"; at++) {
      if (tokens[at] !== "(") moves.push({ uci: tokens[at], variations: [] });
      else {
        at++;
        const variation = line();
        moves.at(-1)?.variations?.push(variation);
      }
    }
    return moves;
  };
  return line();
}
