// Famous endgames, under the paper's rules. A test compares their values with the tables.

/**
 * @typedef {object} FamousEndgame
 * @property {string} key names the strings `famous.<key>` and `famous.<key>.text`
 * @property {string} fen
 * @property {"win" | "draw" | "loss"} wdl the result for the side to move
 * @property {number | null} dtw the plies to it; null for a draw
 */

/** @type {FamousEndgame[]} */
export const FAMOUS_ENDGAMES = [
  { key: "wait", fen: "6e/7/6E/7/7/7/7/7/7 w", wdl: "loss", dtw: 34 },
  { key: "longest2", fen: "6e/7/7/7/7/7/7/7/E6 w", wdl: "loss", dtw: 34 },
  { key: "two", fen: "Le5/E6/7/7/7/7/7/7/7 w", wdl: "loss", dtw: 36 },
  { key: "fortress", fen: "1p2t2/7/7/7/7/7/1L5/7/7 w", wdl: "draw", dtw: null },
  { key: "hunt", fen: "6l/7/7/6P/7/7/7/7/E6 w", wdl: "win", dtw: 67 },
  { key: "move", fen: "6e/7/7/7/7/7/p6/7/1L3R1 w", wdl: "draw", dtw: null },
  { key: "longest4", fen: "1r4l/7/7/6P/7/7/7/7/E6 w", wdl: "loss", dtw: 118 },
];
