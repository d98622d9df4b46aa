// The rules of competition on the page. `the_page_counts_as_the_server_does` compares random games with the server.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Game } from "../../src/assets/game.js";
import { contradict, readRules } from "../../src/assets/ruleset.js";
import { gameStatus } from "../../src/assets/status.js";

const ELEPHANTS = "7/7/3e3/7/7/7/3E3/7/7 w";
const ROUND = ["d3c3", "d7c7", "c3d3", "c7d7"];

/** The state after some plies of two elephants that go back and forth. */
function after(plies, rules, fen = ELEPHANTS) {
  const game = new Game(fen, { rules: "paper,repetition=none" });
  const moves = Array.from({ length: plies }, (_, i) => ROUND[i % 4]);
  assert.equal(game.read(game.root, moves), plies);
  game.goTo(plies);
  return gameStatus(game.cursor, readRules(`paper,repetition=none,${rules}`), null);
}

const allows = (state, uci) => state.moves.some((move) => move.uci === uci);

test("7-3 forbids the fourth entry, 17-5 the eighteenth move", () => {
  assert.ok(allows(after(8, "loop=7-3"), "d3c3"));
  assert.ok(!allows(after(12, "loop=7-3"), "d3c3"));
  assert.ok(allows(after(12, "loop=7-3"), "d3e3"));
  assert.ok(allows(after(12, "loop=17-5"), "d3c3"));
  assert.ok(allows(after(32, "loop=17-5"), "d3c3"));
  assert.ok(!allows(after(34, "loop=17-5"), "c3d3"));
  assert.ok(!allows(after(12, "loop=servers"), "d3c3"));
});

test("loops lose or decide the game", () => {
  const lost = { winner: "black", reason: "loop" };
  for (const [rule, plies] of [
    ["7-3-loses", 13],
    ["5-2", 9],
    ["2-1", 5],
    ["repeat-end", 5],
  ]) {
    assert.equal(after(plies - 1, `loop=${rule}`).over, null, rule);
    assert.deepEqual(after(plies, `loop=${rule}`).over, lost, rule);
    assert.deepEqual(after(plies, `loop=${rule}`).moves, [], rule);
  }
});

test("a draw goes to the side with more", () => {
  const more = "7/7/3e3/7/7/7/3E3/7/R6 w";
  for (const [judge, winner] of [
    ["none", null],
    ["number", "white"],
    ["weight", "white"],
  ])
    assert.deepEqual(after(100, `move-limit=100,judge=${judge}`, more).over, { winner, reason: "move_limit" });
  assert.equal(after(99, "move-limit=100").over, null);
  assert.equal(after(100, "move-limit=100,judge=weight", "7/7/3e3/7/7/7/3E3/7/7 w").over.winner, null);
});

test("rules that contradict each other are none", () => {
  assert.equal(readRules("cazaux,loop=repeat-end"), null);
  assert.ok(contradict({ loop: "repeat-end", repetition: "twofold" }));
  assert.ok(readRules("cazaux,loop=repeat-end,repetition=none"));
});
