// The squares that the clauses of decision trees mention.

import assert from "node:assert/strict";
import { test } from "node:test";
import { because, clauseSquares } from "../../src/assets/clauses.js";
import { index, name } from "../../src/assets/position.js";

const FEN = "7/3r3/7/6L/7/7/7/3E3/7 w";
const of = (clause) => {
  const { pieces, region } = clauseSquares(clause, FEN);
  return [pieces.map(name).join(" "), region.map(name).join(" ")];
};

test("a clause names pieces and parts of the board", () => {
  assert.deepEqual(of("White's elephant and Black's rat are at most 3 squares apart"), ["d2 d8", ""]);
  assert.deepEqual(of("White's lion needs at most 4 moves to the enemy's den"), ["g6", "d9"]);
  assert.deepEqual(of("Black's rat needs at most 4 moves to the enemy's den"), ["d8", "d1"]);
  assert.deepEqual(of("Black's rat is more than 2 squares from its own den"), ["d8", "d9"]);
  assert.deepEqual(of("Black's rat is in an enemy trap"), ["d8", "c1 e1 d2"]);
  assert.deepEqual(of("White's lion is on rank 9"), ["g6", "a9 b9 c9 d9 e9 f9 g9"]);
  assert.equal(of("White's lion is on rank 4 to 6")[1].split(" ").length, 21);
  assert.equal(of("Black's rat is in the water")[1].split(" ").length, 12);
  assert.deepEqual(of("White's lead in the race to the dens is more than 2 moves"), ["", "d1 d9"]);
  const { region } = clauseSquares("Black's rat is on, or reaches, the last three ranks before every enemy piece", FEN);
  assert.deepEqual([region.length, region.at(-1)], [21, index("g3")]);
});

test("many clauses are a list", () => {
  const few = "White wins, because White is nearer to the enemy's den.";
  assert.deepEqual(because(few, ""), { sentence: few, clauses: [] });
  const reaches = "White's cat is on, or reaches, the last three ranks before every enemy piece";
  const apart = "White's cat and Black's dog are more than 4 files apart";
  const many = `A draw, because A is odd, ${reaches}, B is even, and ${apart}.`;
  const { sentence, clauses } = because(many, "");
  assert.deepEqual([sentence, clauses], ["A draw, because:", ["A is odd", reaches, "B is even", apart]]);
});
