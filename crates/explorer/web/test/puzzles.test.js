// The rating, the streak, and the puzzle of the day.

import assert from "node:assert/strict";
import { test } from "node:test";
import { dailyPuzzle, fitting, found, progress, rated, shown, today, tried } from "../../src/assets/puzzles.js";

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
  const one = found(tried(start, puzzle("a"), true), puzzle("a"));
  assert.deepEqual([one.solved, one.missed, one.streak, one.best], [["a"], [], 1, 1]);
  assert.deepEqual(tried(one, puzzle("a"), false), one);
  assert.deepEqual(found(one, puzzle("a")), one);
  // After a wrong move the puzzle can be solved, and nothing makes it one that was solved at the first move.
  const wrong = tried(one, puzzle("b"), false);
  assert.deepEqual(tried(wrong, puzzle("b"), true), wrong);
  const two = found(wrong, puzzle("b"), "2026-11-28");
  assert.deepEqual([two.solved, two.missed, two.streak, two.best], [["a", "b"], ["b"], 0, 1]);
  assert.equal(two.day, "2026-11-28");
  assert.ok(two.rating < one.rating);
});

test("a puzzle whose solution was shown is not solved", () => {
  const after = shown(tried(progress(), puzzle("a"), false), puzzle("a"));
  assert.deepEqual(found(after, puzzle("a"), "2026-11-28"), after);
  assert.deepEqual([after.solved, after.day], [[], ""]);
  const solved = found(tried(progress(), puzzle("b"), true), puzzle("b"));
  assert.deepEqual(shown(solved, puzzle("b")), solved, "it was solved before");
});

test("what another version has kept is read", () => {
  const keep = (text) => (globalThis.localStorage = { getItem: () => text });
  const empty = { solved: [], missed: [], shown: [], rating: 1200, streak: 0, best: 0, day: "" };
  keep('{"solved":["a"],"first":1}');
  assert.deepEqual(progress(), { ...empty, solved: ["a"] });
  keep('{"solved":5,"missed":"a","first":"many","rating":null,"streak":-3,"best":1e999}');
  assert.deepEqual(progress(), empty);
  delete globalThis.localStorage;
});

test("the puzzle of the day depends on the day alone", async () => {
  const asked = [];
  globalThis.fetch = async (address) => {
    asked.push(String(address));
    return { ok: true, json: async () => ({ total: 1, puzzles: [{ id: "x" }] }) };
  };
  const day = today(new Date(2026, 10, 8, 23, 59));
  assert.equal(day, "2026-11-08");
  assert.deepEqual(await dailyPuzzle(day), { id: "x" });
  assert.match(asked[0], /seed=20261108/);
});
