// Translates the clauses of decision trees, which the server writes in English, into the language of the page.

import { boardOf, ground } from "./position.js";
import { currentLanguage, side, t } from "./ui.js";

const SIDE = "(White|Black)";
const PIECE = "((?:White|Black)'s \\w+)";
const BOUND = "(at most|more than) (-?\\d+) \\w+";

/** The server's clauses as patterns, each with the Chinese sentence and the names of the pattern's groups. */
const CHINESE = [
  [`${SIDE} is nearer to the enemy's den`, "{a}离对方兽穴更近", "a"],
  [`${SIDE} is at least as near to the enemy's den`, "{a}离对方兽穴至少同样近", "a"],
  [
    `${PIECE} does not reach a trap at the enemy's den before every enemy piece`,
    "{a}不能先于对方所有棋子到达对方兽穴旁的陷阱",
    "a",
  ],
  [
    `${PIECE} reaches a trap at the enemy's den before every enemy piece`,
    "{a}先于对方所有棋子到达对方兽穴旁的陷阱",
    "a",
  ],
  [`${PIECE} is on rank (\\d+) to (\\d+)`, "{a}在第 {n} 至 {m} 行", "a n m"],
  [`${PIECE} is on rank (\\d+)`, "{a}在第 {n} 行", "a n"],
  [`${PIECE} is ${BOUND} from its own den`, "{a}距己方兽穴{bound} 格", "a bound"],
  [`${PIECE} is ${BOUND} from the d-file`, "{a}距 d 列{bound} 列", "a bound"],
  [`${PIECE} and ${PIECE} are (at most|more than) (-?\\d+) squares? apart`, "{a}与{b}相距{bound} 格", "a b bound"],
  [`${PIECE} and ${PIECE} are (at most|more than) (-?\\d+) files? apart`, "{a}与{b}相距{bound} 列", "a b bound"],
  [`the distance between ${PIECE} and ${PIECE} is even`, "{a}与{b}的距离为偶数", "a b"],
  [`the distance between ${PIECE} and ${PIECE} is odd`, "{a}与{b}的距离为奇数", "a b"],
  [`${PIECE} and ${PIECE} are not adjacent`, "{a}与{b}不相邻", "a b"],
  [`${PIECE} and ${PIECE} are adjacent`, "{a}与{b}相邻", "a b"],
  [`${PIECE} is not in an enemy trap`, "{a}不在对方陷阱里", "a"],
  [`${PIECE} is in an enemy trap`, "{a}在对方陷阱里", "a"],
  [`${PIECE} cannot reach the last three ranks before every enemy piece`, "{a}不能先于对方所有棋子到达最后三行", "a"],
  [
    `${PIECE} is on, or reaches, the last three ranks before every enemy piece`,
    "{a}已在或能先于对方所有棋子到达最后三行",
    "a",
  ],
  [`${PIECE} needs ${BOUND} to the enemy's den`, "{a}到对方兽穴需{bound} 着", "a bound"],
  [
    `${PIECE} needs (at most|more than) (-?\\d+) moves? to the square of ${PIECE}`,
    "{a}到{b}所在格需{bound} 着",
    "a bound b",
  ],
  [`${SIDE}'s lead in the race to the dens is ${BOUND}`, "{a}抢穴领先{bound} 着", "a bound"],
  [
    `${PIECE}'s lead over every enemy piece to the best trap at the enemy's den is ${BOUND}`,
    "{a}到对方兽穴旁最佳陷阱比对方所有棋子领先{bound} 着",
    "a bound",
  ],
  [`${PIECE} is not in the water`, "{a}不在河中", "a"],
  [`${PIECE} is in the water`, "{a}在河中", "a"],
  [`the rank of ${PIECE} minus the rank of ${PIECE} is ${BOUND}`, "{a}的行数减去{b}的行数{bound}", "a b bound"],
  [`${PIECE} could not take ${PIECE} at once`, "{a}不能立即吃掉{b}", "a b"],
  [`${PIECE} could take ${PIECE} at once`, "{a}能立即吃掉{b}", "a b"],
  [`${PIECE} may not take ${PIECE} on open land`, "{a}在普通陆地上不能吃{b}", "a b"],
  [`${PIECE} may take ${PIECE} on open land`, "{a}在普通陆地上能吃{b}", "a b"],
  [`${PIECE} cannot leap over water`, "{a}不能跳河", "a"],
  [`${PIECE} can leap over water`, "{a}能跳河", "a"],
  [`${PIECE} cannot swim`, "{a}不能下河", "a"],
  [`${PIECE} can swim`, "{a}能下河", "a"],
].map(([pattern, text, names]) => ({ pattern: new RegExp(`^${pattern}$`), text, names: names.split(" ") }));

/** @type {Record<string, string>} */
const LETTERS = { rat: "R", cat: "C", wolf: "W", dog: "D", panther: "P", tiger: "T", lion: "L", elephant: "E" };

/**
 * A side or a piece in the language of the page.
 * @param {string} text
 */
function subject(text) {
  const [color, animal] = text.split("'s ");
  const owner = side(color === "White" ? "w" : "b");
  return animal ? t("piece", { side: owner, animal: t(`animal.${LETTERS[animal]}`) }) : owner;
}

/**
 * @param {string} kind
 * @param {number} n
 */
const bound = (kind, n) => `${kind === "at most" ? "至多" : "多于"} ${n}`;

/**
 * A clause in the language of the page; the server's English if no translation is known.
 * @param {string} english
 */
export function clause(english) {
  if (currentLanguage() === "en") return english;
  for (const { pattern, text, names } of CHINESE) {
    const found = pattern.exec(english);
    if (!found) continue;
    const groups = found.slice(1);
    const next = () => groups.shift() ?? "";
    const value = (/** @type {string} */ name) => {
      if (name === "bound") return bound(next(), Number(next()));
      return /^[ab]$/.test(name) ? subject(next()) : next();
    };
    const values = Object.fromEntries(names.map((name) => [name, value(name)]));
    return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  }
  return english;
}

/** The regions that a clause may name, each with its squares for the side that the clause is about. */
/** @type {[RegExp, (square: number, own: string) => boolean][]} */
const REGIONS = [
  [/last three ranks/, (square, own) => (own === "w" ? square >= 42 : square < 21)],
  [/trap/, (square, own) => ground(square).kind === "trap" && ground(square).owner !== own],
  [/own den/, (square, own) => ground(square).kind === "den" && ground(square).owner === own],
  [/enemy's den/, (square, own) => ground(square).kind === "den" && ground(square).owner !== own],
  [/dens/, (square) => ground(square).kind === "den"],
  [/d-file/, (square) => square % 7 === 3],
  [/water/, (square) => ground(square).kind === "water"],
];

/**
 * The squares of a board that a clause of the server mentions: the squares of the pieces, and of the ranks, traps,
 * dens, file or water that it names.
 * @param {string} english
 * @param {string} position
 */
export function clauseSquares(english, position) {
  const { squares } = boardOf(position);
  const named = [...english.matchAll(/(White|Black)'s (\w+)/g)].map(([, color, animal]) => {
    const letter = LETTERS[animal] ?? "";
    return squares.indexOf(color === "White" ? letter : letter.toLowerCase());
  });
  const own = english.startsWith("Black") ? "b" : "w";
  const ranks = /on rank (\d+)(?: to (\d+))?/.exec(english);
  const region = REGIONS.find(([pattern]) => pattern.test(english))?.[1];
  const isNamed = (/** @type {number} */ square) => {
    const rank = Math.floor(square / 7) + 1;
    return ranks ? rank >= Number(ranks[1]) && rank <= Number(ranks[2] ?? ranks[1]) : region?.(square, own);
  };
  return {
    pieces: named.filter((square) => square >= 0),
    region: squares.map((_, square) => square).filter(isNamed),
  };
}

/** The most clauses of a sentence; more clauses form a list. */
const MOST_CLAUSES = 3;

/**
 * A tree's sentence, "White wins, because A, B, and C.", in the language of the page; `result` is its first part. With
 * many clauses `sentence` is only the beginning, and `clauses` contains the list.
 * @param {string} english
 * @param {string} result
 */
export function because(english, result) {
  const isEnglish = currentLanguage() === "en";
  const found = /^(.*?, because) (.*)\.$/.exec(english);
  if (!found) return { sentence: isEnglish ? english : `${result}，此子力的所有局面都如此。`, clauses: [] };
  // One clause contains commas.
  const parts = found[2].replaceAll("is on, or reaches, the", "is on; or reaches; the").split(/, and |, /);
  const clauses = parts.map((part) => part.replaceAll(";", ",")).map((part) => (isEnglish ? part : clause(part)));
  if (clauses.length > MOST_CLAUSES) return { sentence: isEnglish ? `${found[1]}:` : `${result}，因为：`, clauses };
  return { sentence: isEnglish ? english : `${result}，因为${clauses.join("，且")}。`, clauses: [] };
}
