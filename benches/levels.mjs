// Measures the strength levels of `dsq serve`: games between neighbouring levels over the HTTP API, as the page plays them.
//
//     dsq serve --pieces 3 &
//     node benches/levels.mjs http://127.0.0.1:8763 60 > results/levels.md
//
// Every opening is six random moves without captures and is played twice, with exchanged sides.

import { LEVELS } from "../crates/explorer/src/assets/levels.js";
import { legalMoves } from "../crates/explorer/src/assets/movegen.js";
import { play, START } from "../crates/explorer/src/assets/position.js";
import { readRules } from "../crates/explorer/src/assets/ruleset.js";
import { gameStatus } from "../crates/explorer/src/assets/status.js";

const OPENING = 6;
const rules = readRules("paper");
const [origin = "http://127.0.0.1:8763", count = "60", most = "L"] = process.argv.slice(2);

async function bestMove(moves, level, seed) {
  const query = new URLSearchParams({ rules: "paper", moves: moves.join(","), strength: level.strength, seed, movetime: 10000 });
  const response = await fetch(`${origin}/api/v1/bestmove?${query}`);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()).uci;
}

/** Plays a game; returns "white", "black" or null for a draw. */
async function game(players, seed) {
  let random = seed * 7919 + 1;
  let node = { fen: START, parent: null };
  const moves = [];
  const make = (uci) => { moves.push(uci); node = { fen: play(node.fen, uci), parent: node }; };
  for (let i = 0; i < OPENING; i++) {
    const quiet = legalMoves(node.fen, rules).filter((move) => !move.captures);
    random = (random * 48271) % 2147483647;
    make(quiet[random % quiet.length].uci);
  }
  for (;;) {
    const { over } = gameStatus(node, rules);
    if (over) return over.winner;
    make(await bestMove(moves, players[node.fen.slice(-1)], seed * 1000 + moves.length));
  }
}

const elo = (score) => -400 * Math.log10(1 / score - 1);

console.log("# Strength levels\n");
console.log(`Games over the HTTP API between neighbouring levels, ${count} for each pair, by \`benches/levels.mjs\`,`);
console.log(`${new Date().toISOString().slice(0, 10)}. Errors are 95 %. The levels are limited by nodes, not by time.\n`);
console.log("| level | strength | against | wins | draws | losses | Elo difference | Elo above the first |");
console.log("|---|---|---|---|---|---|---|---|");
let sum = 0;
for (let i = 1; LEVELS[i - 1].key !== most; i++) {
  const [stronger, weaker] = [LEVELS[i], LEVELS[i - 1]];
  const result = { wins: 0, draws: 0, losses: 0 };
  for (let g = 0; g < Number(count); g++) {
    const isWhite = g % 2 === 0;
    const winner = await game(isWhite ? { w: stronger, b: weaker } : { w: weaker, b: stronger }, Math.floor(g / 2) + 1);
    result[winner === null ? "draws" : (winner === "white") === isWhite ? "wins" : "losses"]++;
  }
  const { wins, draws, losses } = result;
  const n = wins + draws + losses;
  const score = (wins + draws / 2) / n;
  const variance = (wins * (1 - score) ** 2 + draws * (0.5 - score) ** 2 + losses * score ** 2) / n;
  const error = (1.96 * Math.sqrt(variance / n) * 400) / Math.LN10 / (score * (1 - score));
  sum += elo(score);
  console.log(`| ${stronger.key} | ${stronger.strength} | ${weaker.key} | ${wins} | ${draws} | ${losses} | ${elo(score).toFixed(0)} ± ${error.toFixed(0)} | ${sum.toFixed(0)} |`);
}
