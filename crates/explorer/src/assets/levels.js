// Strength levels by name, and time controls.

/**
 * `strength` is the server's, from 1 to 10; `perfect` plays the tables' best move if they contain the position.
 * results/levels.md measures their differences.
 * @type {{key: string, strength: number, perfect?: boolean}[]}
 */
export const LEVELS = [
  { key: "R", strength: 1 },
  { key: "C", strength: 2 },
  { key: "W", strength: 3 },
  { key: "D", strength: 4 },
  { key: "P", strength: 5 },
  { key: "T", strength: 7 },
  { key: "L", strength: 9 },
  { key: "E", strength: 10, perfect: true },
];

/** @param {string} key */
export const levelOf = (key) => LEVELS.find((level) => level.key === key) ?? LEVELS[2];

/** Minutes and seconds of increment; "" is a game without a clock. */
export const TIMES = ["", "3+2", "5+3", "10+5", "30+10"];

/** A time control as milliseconds, or null without a clock. @param {string} text */
export function timeControl(text) {
  const [minutes, seconds] = text.split("+").map(Number);
  return text ? { initial: minutes * 60000, increment: seconds * 1000 } : null;
}
