// Games are reviewed in parts that know everything before them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { play } from "../../src/assets/position.js";
import { accuracyOf, reviewGame, sideAccuracy } from "../../src/assets/review.js";

const START = "7/6r/7/7/7/7/7/1E5/7 w";
const MOVES = "b2c2 g8g7 c2b2 g7g8 b2c2 g8g7 c2b2 g7g8".split(" ");

/** A server that answers a review with the position after each move. */
function serve(requests) {
  globalThis.fetch = async (_, { body }) => {
    const request = JSON.parse(body);
    requests.push(request);
    const fens = request.moves.map((_, i) =>
      request.moves.slice(0, i + 1).reduce(play, request.fen.replace(/ \d+$/, "")),
    );
    const moves = request.moves.map((uci, i) => ({ uci, fen: fens[i] })).slice(request.skip);
    return { ok: true, json: async () => ({ moves }) };
  };
}

test("every part has the whole game before it", async () => {
  const requests = [];
  serve(requests);
  const game = { start: `${START} 5`, moves: MOVES, rules: "paper", limit: 200 };
  const moves = await reviewGame(game);
  assert.deepEqual(
    requests.map(({ fen, moves, skip, no_capture_limit: limit }) => [fen, moves.length, skip, limit]),
    [
      [`${START} 5`, 6, 0, 200],
      [`${START} 5`, 8, 6, 200],
    ],
  );
  assert.deepEqual(
    moves.map((move) => move.uci),
    MOVES,
  );
  assert.deepEqual([moves[0].before, moves[1].before], [START, play(START, "b2c2")]);
});

test("the last move alone is reviewed with its history", async () => {
  const requests = [];
  serve(requests);
  const [move, ...others] = await reviewGame({ start: START, moves: MOVES, rules: "paper", limit: 100 }, { skip: 7 });
  assert.deepEqual([move.uci, move.before, others], ["g7g8", MOVES.slice(0, 7).reduce(play, START), []]);
  assert.deepEqual([requests[0].skip, requests[0].moves, requests[0].no_capture_limit], [7, MOVES, undefined]);
});

test("the accuracy of a move is the share that it keeps", () => {
  const move = (color, best, got) => ({ color, score_before: score(best), score_after: score(got) });
  const score = (value) => (typeof value === "number" ? { kind: "cp", value } : value);
  for (const color of ["white", "black"]) {
    assert.equal(accuracyOf(move(color, 40, 40)), 0.999999);
    const [slip, mistake, blunder] = [20, -100, -900].map((got) => accuracyOf(move(color, 40, got)));
    assert.ok(slip > mistake && mistake > blunder && blunder < 0.2, `${slip} ${mistake} ${blunder}`);
    const [won, lost] = [3, -4].map((value) => ({ kind: "mate", value }));
    assert.equal(accuracyOf(move(color, won, lost)), 0);
    assert.equal(accuracyOf({ color, score_before: null, score_after: null }), null);
  }
  const moves = [
    move("white", 0, 0),
    move("black", 0, -300),
    { color: "white", score_before: null, score_after: null },
  ];
  assert.equal(sideAccuracy(moves, "white"), 0.999999);
  assert.ok(sideAccuracy(moves, "black") < 0.6);
  assert.equal(sideAccuracy([], "white"), null);
});
