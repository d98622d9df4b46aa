// The clauses of decision trees: their squares, their sentences, and their translations.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { because, clauseSquares } from "../../src/assets/clauses.js";
import chinese from "../../src/assets/clauses.zh.js";
import { index, name } from "../../src/assets/position.js";

const FEN = "7/3r3/7/6L/7/7/7/3E3/7 w";
const clause = (key, pieces, numbers = [], side = null) => ({ key, side, pieces: [...pieces], numbers, text: key });
const of = (...parts) => {
  const { pieces, region } = clauseSquares(clause(...parts), FEN);
  return [pieces.map(name).join(" "), region.map(name).join(" ")];
};

test("a clause is about pieces and parts of the board", () => {
  assert.deepEqual(of("apart.at_most", "Er", [3]), ["d2 d8", ""]);
  assert.deepEqual(of("den.at_most", "L", [4]), ["g6", "d9"]);
  assert.deepEqual(of("den.at_most", "r", [4]), ["d8", "d1"]);
  assert.deepEqual(of("own_den.more_than", "r", [2]), ["d8", "d9"]);
  assert.deepEqual(of("trapped.yes", "r"), ["d8", "c1 e1 d2"]);
  assert.deepEqual(of("rank.one", "L", [9, 9]), ["g6", "a9 b9 c9 d9 e9 f9 g9"]);
  assert.equal(of("rank.several", "L", [4, 6])[1].split(" ").length, 21);
  assert.equal(of("wet.yes", "r")[1].split(" ").length, 12);
  assert.deepEqual(of("lead.more_than", "", [2], "white"), ["", "d1 d9"]);
  assert.deepEqual(of("closest.nearer", "", [], "black"), ["", "d1"]);
  const { region } = clauseSquares(clause("can_cross.yes", "r"), FEN);
  assert.deepEqual([region.length, region.at(-1)], [21, index("g3")]);
});

test("reasons and the contrary are a sentence", () => {
  const [a, b] = ["a", "b"].map((text) => ({ ...clause("wet.yes", "r"), text }));
  const said = (clauses, although, path) => because("White wins", { clauses, although, path });
  assert.equal(said([], [], [0]), "White wins, as in every position of this material.");
  assert.equal(said([], [], [0, 1]), "White wins, by the decision tree of this material.");
  assert.equal(said([a], [], [0, 1]), "White wins, because a.");
  assert.equal(said([a, b], [], [0, 1]), "White wins, because a, and b.");
  assert.equal(said([], [a, b], [0, 1]), "White wins, although a, and b.");
});

test("every clause has a translation", () => {
  const source = readFileSync(new URL("../../../study/src/prose.rs", import.meta.url), "utf8").split("#[cfg(test)]")[0];
  const keys = new Set([...source.matchAll(/"([a-z_]+\.[a-z_]+)"/g)].map(([, key]) => `clause.${key}`));
  assert.ok(keys.size > 40);
  assert.deepEqual([...keys].sort(), Object.keys(chinese).sort());
});
