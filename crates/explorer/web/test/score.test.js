import assert from "node:assert/strict";
import { test } from "node:test";
import { scoreKind, scoreSentence, scoreText } from "../../src/assets/score.js";
import { setUnit, spoken } from "../../src/assets/ui.js";

test("scores are White's, whoever is to move", () => {
  const [good, bad] = [120, -120].map((value) => ({ kind: "cp", value }));
  assert.deepEqual([scoreText(good, "w"), scoreText(bad, "b")], ["+1.20", "+1.20"]);
  assert.deepEqual([scoreText(bad, "w"), scoreText(good, "b")], ["−1.20", "−1.20"]);
  assert.deepEqual([scoreKind(good, "w"), scoreKind(bad, "b"), scoreKind(good, "b")], ["win", "win", "loss"]);
  const [mate, mated] = [12, -12].map((value) => ({ kind: "mate", value }));
  assert.equal(scoreText(mate, "b"), scoreText(mated, "w"));
  assert.equal(scoreSentence(mate, "b"), "Black wins in 6 moves");
});

test("a known win is a win and no number", () => {
  const within = { kind: "win", value: 30 };
  assert.deepEqual([scoreText(within, "w"), scoreSentence(within, "w")], ["White wins", "White wins within 15 moves"]);
});

test("screen readers hear moves in words", () => {
  assert.equal(spoken("1. Da8 Rxb3?? 2. Ed3?!"), "1. dog to a8 rat takes on b3, blunder 2. elephant to d3, inaccuracy");
  assert.equal(spoken("d2d3, E1W1P1R/1C3D1 and Da80"), "d2d3, E1W1P1R/1C3D1 and Da80");
});

test("a length is moves, or plies, and one of them is singular", () => {
  const inOne = () => scoreSentence({ kind: "mate", value: 1 }, "w");
  assert.equal(inOne(), "White wins in 1 move");
  setUnit("plies");
  assert.equal(inOne(), "White wins in 1 ply");
  assert.equal(scoreSentence({ kind: "mate", value: 12 }, "b"), "Black wins in 12 plies");
  setUnit("moves");
});
