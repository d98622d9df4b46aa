// Moves as the page shows and speaks them.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { legalMoves } from "../../src/assets/movegen.js";
import { reasonsOf } from "../../src/assets/reasons.js";
import { readRules } from "../../src/assets/ruleset.js";
import { inLetters, moveText, setLanguage, spoken, t } from "../../src/assets/ui.js";

globalThis.document = { documentElement: {} };
after(() => setLanguage("en"));

test("moves are in letters in English, and with animals in Chinese", async () => {
  assert.equal(moveText("1. Cc1 Lxd9??"), "1. Cc1 Lxd9??");
  assert.equal(spoken("Lxd9??"), "lion takes on d9, blunder");
  await setLanguage("zh");
  assert.equal(moveText("1. Cc1 Lxd9??"), "1. 猫c1 狮xd9??");
  // A FEN is no move.
  assert.equal(moveText("7/E6/7 w"), "7/E6/7 w");
  assert.equal(t("match.hint", { move: "Ed7" }), "提示：象d7");
  assert.equal(inLetters("猫c1"), "Cc1");
  assert.equal(inLetters("Cc1"), "Cc1");
  for (const text of ["狮xd9??", "Lxd9??"]) assert.equal(spoken(text), "狮吃 d9，败着");
});

test("a winning move has at most two reasons", async () => {
  await setLanguage("en");
  const rules = readRules("paper");
  const reasons = (fen, uci, wdl = "win") => {
    const move = legalMoves(fen, rules).find((other) => other.uci === uci);
    return reasonsOf(fen, { ...move, value: { wdl } }, rules);
  };
  assert.deepEqual(reasons("7/3E3/7/7/7/7/r6/7/7 w", "d8d9"), ["into the den"]);
  assert.deepEqual(reasons("7/7/3E3/7/7/7/r6/7/7 w", "d7d8"), ["threatens to enter the den"]);
  const guard = "e6/7/7/7/7/7/3L3/3c3/7 w";
  assert.deepEqual(reasons(guard, "d3d2"), ["takes the cat", "keeps the enemy out of the den"]);
  assert.deepEqual(reasons(guard, "d3d2", "draw"), ["takes the cat"]);
  const attack = "7/7/7/7/c6/E6/L6/7/7 w";
  assert.deepEqual(reasons("7/7/7/7/c6/7/L6/7/7 w", "a3a4"), ["attacks the cat"]);
  assert.deepEqual(reasons(attack, "a3b3"), [], "the elephant attacks the cat already");
  assert.deepEqual(reasons("7/7/7/7/7/l6/T6/7/c6 w", "a3b3"), ["saves the tiger"]);
});
