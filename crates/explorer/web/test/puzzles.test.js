// The rating, the streak, and the puzzle of the day.

import assert from "node:assert/strict";
import { test } from "node:test";
import { dailyPuzzle, fitting, found, progress, rated, today, tried } from "../../src/assets/puzzles.js";

const puzzle = (id, difficulty = 3) => ({ id, difficulty });

test("the rating follows Elo's formula", () => {
  assert.equal(rated(1400, 3, true), 1416);
  assert.equal(rated(1400, 3, false), 1384);
  assert.ok(rated(1200, 5, true) - 1200 > rated(1200, 1, true) - 1200);
  assert.equal(rated(0, 5, false), 0);
  assert.deepEqual(
    [0, 900, 1000, 1390, 1850, 3000].map((rating) => fitting(rating)),
    [1, 1, 2, 3, 4, 5],
  );
});

test("a puzzle counts once", () => {
  const start = progress();
  assert.deepEqual([start.rating, start.streak, start.solved], [1200, 0, []]);
  const one = found(tried(start, puzzle("a"), true), puzzle("a"), true);
  assert.deepEqual([one.solved, one.first, one.streak, one.best], [["a"], 1, 1, 1]);
  assert.deepEqual(tried(one, puzzle("a"), false), one);
  assert.deepEqual(found(one, puzzle("a"), true), one);
  const two = found(tried(one, puzzle("b"), false), puzzle("b"), false, "2026-11-28");
  assert.deepEqual([two.solved, two.first, two.streak, two.best, two.day], [["a", "b"], 1, 0, 1, "2026-11-28"]);
  assert.ok(two.rating < one.rating);
});

test("what another version has kept is read", () => {
  const keep = (text) => (globalThis.localStorage = { getItem: () => text });
  keep('{"solved":["a"],"first":1}');
  assert.deepEqual(progress(), { solved: ["a"], first: 1, rating: 1200, streak: 0, best: 0, day: "" });
  keep('{"solved":5,"first":"many","rating":null,"streak":-3,"best":1e999}');
  assert.deepEqual(progress(), { solved: [], first: 0, rating: 1200, streak: 0, best: 0, day: "" });
  delete globalThis.localStorage;
});

test("the puzzle of the day depends on the day alone", async () => {
  const asked = [];
  globalThis.fetch = async (address) => {
    asked.push(String(address));
    return { ok: true, json: async () => ({ puzzles: [{ id: "x" }] }) };
  };
  const day = today(new Date(2026, 10, 8, 23, 59));
  assert.equal(day, "2026-11-08");
  assert.deepEqual(await dailyPuzzle(day), { id: "x" });
  assert.match(asked[0], /seed=20261108/);
});
