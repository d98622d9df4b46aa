// Squares, pieces and FEN. Legal moves: see movegen.js.

export const START = "l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L w";
export const ANIMALS = "RCWDPTLE";
export const PIECES = [..."ELTPDWCR", ..."eltpdwcr"];
/** The usual number of plies without a capture after which a game is drawn. */
export const NO_CAPTURE_LIMIT = 100;

/** @param {number} square */
export const name = (square) => "abcdefg"[square % 7] + (Math.floor(square / 7) + 1);
/** @param {string} text */
export const index = (text) =>
  /^[a-g][1-9]$/.test(text) ? (text.charCodeAt(1) - 49) * 7 + text.charCodeAt(0) - 97 : -1;
/** @param {string} piece */
export const isWhite = (piece) => piece === piece.toUpperCase();
/**
 * The rank of an animal under rules that are spelled out: dog and wolf change places if the wolf takes the dog.
 * @param {string} piece
 * @param {string} rules
 */
export const strength = (piece, rules) =>
  (rules.includes("dog-over-wolf=no") ? "RCDWPTLE" : ANIMALS).indexOf(piece.toUpperCase()) + 1;
/** @param {number} square */
export const mirrored = (square) => square - (square % 7) + 6 - (square % 7);
/** @param {number} square */
export const upsideDown = (square) => (8 - Math.floor(square / 7)) * 7 + (square % 7);

/** The squares of the dens. @type {Record<Api.Turn, number>} */
export const DENS = { w: 3, b: 59 };
/** @type {Record<number, Api.Turn>} */
const TRAPS = { 2: "w", 4: "w", 10: "w", 58: "b", 60: "b", 52: "b" };

/** "land", "water", "trap" or "den", and its owner. @param {number} square */
export function ground(square) {
  const file = square % 7;
  const rank = Math.floor(square / 7);
  if (square === DENS.w || square === DENS.b) return { kind: "den", owner: square === DENS.w ? "w" : "b" };
  if (square in TRAPS) return { kind: "trap", owner: TRAPS[square] };
  const water = rank >= 3 && rank <= 5 && file !== 0 && file !== 3 && file !== 6;
  return { kind: water ? "water" : "land", owner: null };
}

/** @param {number} square */
export const isWater = (square) => ground(square).kind === "water";

/** @returns {Api.Position} */
export function emptyBoard() {
  return { squares: Array(63).fill(null), turn: "w" };
}

/**
 * A board of a FEN of two fields, or null. The server names the error in the FEN.
 * @param {string} fen
 * @returns {Api.Position | null}
 */
export function parse(fen) {
  const [rows, turn, ...rest] = fen.replaceAll("_", " ").trim().split(/\s+/);
  const ranks = (rows ?? "").split("/");
  if (ranks.length !== 9 || !/^[wb]$/.test(turn ?? "") || rest.length) return null;
  const board = { squares: Array(63).fill(null), turn: /** @type {Api.Turn} */ (turn) };
  for (const [row, text] of ranks.entries()) {
    let file = 0;
    for (const letter of text) {
      if (/[1-7]/.test(letter)) file += Number(letter);
      else if (file < 7 && ANIMALS.includes(letter.toUpperCase())) board.squares[(8 - row) * 7 + file++] = letter;
      else return null;
    }
    if (file !== 7) return null;
  }
  return board;
}

/** The board of a FEN that has been read before. @param {string} fen */
export const boardOf = (fen) => /** @type {Api.Position} */ (parse(fen));

/**
 * The readable part of a FEN: the first of two equal pieces, and each rank up to its first unknown character.
 * @param {string} fen
 */
export function parseLeniently(fen) {
  const [rows, turn] = fen.replaceAll("_", " ").trim().split(/\s+/);
  const board = { ...emptyBoard(), turn: turn === "b" ? "b" : "w" };
  for (const [row, text] of (rows ?? "").split("/").slice(0, 9).entries()) {
    let file = 0;
    for (const letter of text) {
      const isPiece = ANIMALS.includes(letter.toUpperCase());
      if (!isPiece && !/[1-7]/.test(letter)) break;
      if (isPiece && file < 7 && !board.squares.includes(letter)) board.squares[(8 - row) * 7 + file] = letter;
      file += isPiece ? 1 : Number(letter);
    }
  }
  return board;
}

/**
 * The position of a game's FEN, and the halfmove clock behind it. A move number may follow, as in chess.
 * @param {string} fen
 */
export function splitClock(fen) {
  const [, position, clock] = fen.match(/^(.*?[wb])(?: - -)?(?: (\d+)(?: \d+)?)?$/) ?? [fen, fen, 0];
  return { position, clock: Number(clock ?? 0) };
}

/** A FEN as addresses contain it. @param {string} text */
export const underscored = (text) => text.replaceAll(" ", "_");

/**
 * The FEN of a position with its halfmove clock if there is one.
 * @param {string} position
 * @param {number} clock
 */
export const withClock = (position, clock) => (clock ? `${position} ${clock}` : position);

/** @param {Api.Position} position */
export function format({ squares, turn }) {
  const ranks = [];
  for (let rank = 8; rank >= 0; rank--) {
    const row = squares
      .slice(rank * 7, rank * 7 + 7)
      .map((piece) => piece ?? " ")
      .join("");
    ranks.push(row.replace(/ +/g, (/** @type {string} */ gap) => String(gap.length)));
  }
  return `${ranks.join("/")} ${turn}`;
}

/**
 * The position after a move, which is taken to be legal.
 * @param {string} fen
 * @param {string} uci
 */
export function play(fen, uci) {
  const board = boardOf(fen);
  const [from, to] = [index(uci.slice(0, 2)), index(uci.slice(2, 4))];
  board.squares[to] = board.squares[from];
  board.squares[from] = null;
  board.turn = board.turn === "w" ? "b" : "w";
  return format(board);
}

/**
 * The papers' notation of a move on a board: `Eb3`, `Exb3`.
 * @param {(string | null)[]} squares
 * @param {number} from
 * @param {number} to
 */
export const sanOf = (squares, from, to) =>
  (squares[from] ?? "").toUpperCase() + (squares[to] === null ? "" : "x") + name(to);

/**
 * The papers' notation of a move in a position.
 * @param {string} fen
 * @param {string} uci
 */
export const notation = (fen, uci) => sanOf(boardOf(fen).squares, index(uci.slice(0, 2)), index(uci.slice(2, 4)));

/**
 * @param {string} fen
 * @param {(square: number) => number} place
 */
const rearranged = (
  fen,
  place,
  change = (/** @type {string} */ piece) => piece,
  turn = (/** @type {Api.Turn} */ t) => t,
) => {
  const board = boardOf(fen);
  const squares = Array(63).fill(null);
  board.squares.forEach((piece, square) => piece && (squares[place(square)] = change(piece)));
  return format({ squares, turn: turn(board.turn) });
};
/** @param {string} piece */
const otherCase = (piece) => (isWhite(piece) ? piece.toLowerCase() : piece.toUpperCase());
/** @param {Api.Turn} turn */
export const otherTurn = (turn) => (turn === "w" ? "b" : "w");
/** @param {Api.Turn} turn */
export const colorOf = (turn) => (turn === "w" ? "white" : "black");
/** @param {string} fen */
export const mirror = (fen) => rearranged(fen, mirrored);
/** @param {string} fen */
export const swapSides = (fen) => rearranged(fen, upsideDown, otherCase, otherTurn);
/** @param {string} fen */
export const pass = (fen) => rearranged(fen, (/** @type {number} */ square) => square, undefined, otherTurn);

/** The material of a position, as `EPvLR`. @param {string} fen */
export function material(fen) {
  const pieces = boardOf(fen).squares.filter(Boolean);
  const side = (/** @type {boolean} */ white) =>
    [..."ELTPDWCR"].filter((a) => pieces.includes(white ? a : a.toLowerCase())).join("");
  return `${side(true)}v${side(false)}`;
}
/** @param {string} fen */
export const count = (fen) => boardOf(fen).squares.filter(Boolean).length;
