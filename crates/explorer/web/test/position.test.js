import assert from "node:assert/strict";
import { test } from "node:test";
import * as position from "../../src/assets/position.js";

const TWO = "7/7/3e3/7/7/7/3E3/7/7 w";

/** A seeded generator of numbers below `n`: a failure repeats. */
function random(seed) {
  let state = seed;
  return (n) => {
    state = (state * 16807) % 2147483647;
    return state % n;
  };
}

/** A board of random pieces, each on a square of its own. */
function randomBoard(below) {
  const squares = Array(63).fill(null);
  for (const piece of position.PIECES) if (below(2)) squares[below(63)] = piece;
  return { squares, turn: below(2) ? "w" : "b" };
}

test("squares have names, and names squares", () => {
  for (let square = 0; square < 63; square++) assert.equal(position.index(position.name(square)), square);
  for (const text of ["", "a0", "h1", "a10", "A1"]) assert.equal(position.index(text), -1, text);
});

test("a board survives being written and read", () => {
  const below = random(1);
  for (let i = 0; i < 500; i++) {
    const board = randomBoard(below);
    assert.deepEqual(position.parse(position.format(board)), board);
  }
});

test("text that is no position is null", () => {
  for (const text of [
    "",
    "w",
    "7/7/7 w",
    "7/7/7/7/7/7/7/7/7",
    "7/7/7/7/7/7/7/7/7 x",
    "8/7/7/7/7/7/7/7/7 w",
    "q6/7/7/7/7/7/7/7/7 w",
  ]) {
    assert.equal(position.parse(text), null, text);
  }
});

test("mirroring, passing and exchanging sides twice change nothing", () => {
  const below = random(2);
  for (let i = 0; i < 200; i++) {
    const fen = position.format(randomBoard(below));
    for (const change of [position.mirror, position.pass, position.swapSides]) {
      assert.equal(change(change(fen)), fen);
      assert.equal(position.count(change(fen)), position.count(fen));
    }
  }
});

test("the ground is the board of the rules", () => {
  const kinds = Array.from({ length: 63 }, (_, square) => position.ground(square).kind);
  const count = (kind) => kinds.filter((other) => other === kind).length;
  assert.deepEqual(["water", "trap", "den", "land"].map(count), [12, 6, 2, 43]);
  for (const square of ["c1", "e1", "d2"]) {
    assert.deepEqual(position.ground(position.index(square)), { kind: "trap", owner: "w" });
  }
  // The other side of the board is the same with the owners exchanged.
  const other = { w: "b", b: "w", null: null };
  for (let square = 0; square < 63; square++) {
    const { kind, owner } = position.ground(square);
    assert.deepEqual(position.ground(62 - square), { kind, owner: other[owner] }, position.name(square));
  }
});

test("dog and wolf change ranks with the rules", () => {
  const paper = "dog-over-wolf=yes";
  assert.deepEqual(
    [..."RCWDPTLE"].map((piece) => position.strength(piece, paper)),
    [1, 2, 3, 4, 5, 6, 7, 8],
  );
  assert.equal(position.strength("w", "dog-over-wolf=no"), 4);
  assert.equal(position.strength("d", "dog-over-wolf=no"), 3);
});

test("a move moves one piece and the turn", () => {
  assert.equal(position.play(TWO, "d3d4"), "7/7/3e3/7/7/3E3/7/7/7 b");
  assert.equal(position.notation(TWO, "d3d4"), "Ed4");
  assert.equal(position.notation("7/7/7/7/7/3e3/3E3/7/7 w", "d3d4"), "Exd4");
});

test("a clock stands behind the position", () => {
  assert.deepEqual(position.splitClock(`${TWO} 17`), { position: TWO, clock: 17 });
  assert.deepEqual(position.splitClock(TWO), { position: TWO, clock: 0 });
  assert.deepEqual(position.splitClock(`${TWO} - - 17 9`), { position: TWO, clock: 17 });
  assert.deepEqual(position.splitClock(`${TWO} 0 1`), { position: TWO, clock: 0 });
  assert.deepEqual(position.splitClock(`${TWO} 17 40`), { position: TWO, clock: 17 }, "a move number is left out");
});

test("a material names the strongest piece first", () => {
  assert.equal(position.material(position.START), "ELTPDWCRvELTPDWCR");
  assert.equal(position.material(TWO), "EvE");
});
