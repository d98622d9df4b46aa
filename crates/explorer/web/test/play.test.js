import assert from "node:assert/strict";
import { test } from "node:test";
import { Clock, clockText } from "../../src/assets/clock.js";
import { Game } from "../../src/assets/game.js";
import { lineOf } from "../../src/assets/game-text.js";
import { lessonsOf } from "../../src/assets/lessons.js";
import { legalMoves, whyIllegal } from "../../src/assets/movegen.js";
import { play, START } from "../../src/assets/position.js";
import { OMITTED, OPTIONS, PRESETS } from "../../src/assets/rule-options.js";
import { readRules, shortest, spelledOut } from "../../src/assets/ruleset.js";
import { captured, gameStatus } from "../../src/assets/status.js";
import { parseTree, treeText } from "../../src/assets/variations.js";

const PAPER = readRules("paper");
const targets = (fen, rules = PAPER) => legalMoves(fen, rules).map((move) => move.uci);

/** A game with random variations, from a seed. */
function randomGame(seed) {
  let state = seed;
  const below = (n) => (state = (state * 16807) % 2147483647) % n;
  const game = new Game(START);
  const nodes = [game.root];
  for (let i = 0; i < 40; i++) {
    const node = below(3) ? nodes.at(-1) : nodes[below(nodes.length)];
    const moves = legalMoves(node.fen, PAPER);
    if (moves.length) nodes.push(game.child(node, moves[below(moves.length)].uci));
  }
  game.go(nodes.at(-1));
  return game;
}

test("rules are read over a preset and spelled in full", () => {
  assert.equal(readRules("chinese,traps=any").traps, "any");
  assert.equal(readRules("chinese")["dog-over-wolf"], "no");
  for (const text of ["nobody", "paper,traps=all", "paper,chinese", "traps"]) assert.equal(readRules(text), null, text);
  const spelling = spelledOut(PAPER);
  assert.deepEqual(readRules(spelling), PAPER);
  assert.equal(spelling.split(",").length, Object.keys(OPTIONS).length - OMITTED.length);
  for (const text of [...Object.keys(PRESETS), "chinese,traps=any"]) assert.equal(shortest(readRules(text)), text);
});

test("every option has its names in both languages", async () => {
  for (const language of ["en", "zh"]) {
    const strings = (await import(`../../src/assets/strings.${language}.js`)).default;
    const keys = Object.entries(OPTIONS).flatMap(([key, values]) => [key, ...values.map((value) => `${key}.${value}`)]);
    const missing = keys.filter((key) => !strings[`option.${key}`]);
    assert.deepEqual(missing, [], language);
  }
});

test("the start has 24 moves, and 576 lines of two plies", () => {
  const first = targets(START);
  assert.equal(first.length, 24);
  assert.equal(
    first.reduce((sum, uci) => sum + targets(play(START, uci)).length, 0),
    576,
  );
});

test("a move that is not legal has its reason", () => {
  const cases = [
    ["6e/7/7/7/7/7/1C5/7/7 w", "b3b4", "water"],
    ["6e/7/7/7/1r5/7/1L5/7/7 w", "b3b7", "blocked"],
    ["6e/7/7/7/7/7/7/3C3/7 w", "d2d1", "ownden"],
    ["6e/7/7/7/3l3/3C3/7/7/7 w", "d4d5", "stronger"],
    ["6c/7/7/7/7/eR5/7/7/7 w", "b4a4", "wetrat"],
    ["6c/7/7/7/7/7/3C3/7/7 w", "d3d5", "far"],
    ["6c/7/7/7/7/7/3C3/7/7 w", "d3c4", "diagonal"],
    ["6c/7/7/7/7/7/3C3/7/7 w", "d3b4", "far"],
    ["6e/7/7/7/7/7/1L5/7/7 w", "b3b4", "water"],
    ["6e/7/7/7/7/7/1L5/7/7 w", "b3c4", "diagonal"],
    ["6c/7/7/7/7/3D3/3C3/7/7 w", "d3d4", "own"],
    ["6c/7/7/7/7/7/3C3/7/7 w", "a1a2", "nopiece"],
  ];
  for (const [fen, uci, reason] of cases) {
    assert.equal(whyIllegal(fen, uci, PAPER), reason, `${fen} ${uci}`);
    assert.ok(!targets(fen).includes(uci), `${fen} ${uci}`);
  }
  for (const uci of targets(START)) assert.equal(whyIllegal(START, uci, PAPER), null, uci);
});

test("positions end in the den, without pieces, or without a move", () => {
  const end = (fen, rules = PAPER) => gameStatus(new Game(fen).root, rules, null).over;
  assert.deepEqual(end("3C3/7/7/7/7/7/7/7/e6 b"), { winner: "white", reason: "den" });
  assert.deepEqual(end("7/7/7/7/7/7/7/7/e6 w"), { winner: "black", reason: "no_pieces" });
  const stuck = "7/7/7/7/7/e6/Ct5/d6/7 w";
  assert.deepEqual(end(stuck), { winner: null, reason: "no_move" });
  assert.deepEqual(end(stuck, readRules("chinese")), { winner: "black", reason: "no_move" });
  assert.equal(end(START), null);
});

test("repetition and plies without a capture are counted from the last capture", () => {
  const moves = "a3b3 a7b7 b3a3 b7a7 a3b3 a7b7 b3a3 b7a7".split(" ");
  const after = (start, rules = "paper,repetition=none") => {
    const game = new Game(start, { rules });
    assert.equal(game.read(game.root, moves), 8);
    game.goTo(8);
    return game.cursor;
  };
  const node = after(START);
  assert.deepEqual(gameStatus(node, PAPER, 100).over, { winner: null, reason: "repetition" });
  const none = readRules("paper,repetition=none");
  assert.equal(gameStatus(node, none, 100).over, null);
  assert.equal(gameStatus(node, none, 100).clock, 8);
  assert.deepEqual(gameStatus(after(`${START} 92`), none, 100).over, { winner: null, reason: "no_capture" });
  assert.equal(gameStatus(after(`${START} 92`), none, 200).over, null);
  assert.equal(gameStatus(after(`${START} 992`), none, null).over, null);
  assert.ok(!gameStatus(node.parent, readRules("cazaux"), 100).moves.some((move) => move.uci === "b7a7"));
  assert.deepEqual(captured(START, "7/7/7/7/7/7/3E3/7/3c3 w").white.join(""), "LTPDWCR");
});

test("a tree survives links, and its annotations survive undo", () => {
  for (let seed = 1; seed < 40; seed++) {
    const game = randomGame(seed);
    const text = treeText(game.root);
    const linked = new Game(START);
    linked.read(linked.root, parseTree(text));
    assert.equal(treeText(linked.root), text, `seed ${seed}`);
    const read = new Game(START);
    Object.assign(game.cursor, { nags: [4, 14], comment: "slow" });
    game.tags = [["White", "Anna"]];
    read.read(read.root, lineOf(game).moves);
    assert.deepEqual(lineOf(read).moves, lineOf(game).moves, `seed ${seed}`);
    const before = lineOf(game);
    game.reset(START);
    assert.equal(game.undo(), true);
    assert.deepEqual(lineOf(game), before);
    assert.equal(game.cursor.mark, "?? $14");
  }
});

test("a clock adds its increment and falls at zero", () => {
  const clock = new Clock({ initial: 1000, increment: 500 });
  clock.start("w", 0);
  clock.press(400);
  assert.equal(clock.read("w", 900), 1100);
  assert.equal(clock.fallen(1399), null);
  assert.equal(clock.fallen(1400), "b");
  assert.equal(clockText(185000), "3:05");
  assert.equal(clockText(7300), "0:07.3");
  clock.start("b", 1000);
  clock.cancel();
  assert.equal(clock.read("b", 9000), 1000, "a cancelled turn costs nothing");
});

test("lessons follow the rules, and their goals can be reached", () => {
  const variants = Object.entries(OPTIONS).flatMap(([key, values]) => values.map((value) => `paper,${key}=${value}`));
  for (const text of variants) {
    const rules = readRules(text);
    for (const { key, fen, goal, most } of lessonsOf(rules)) {
      let reached = false;
      let positions = [fen];
      for (let n = 0; n < most && !reached; n++) {
        const next = positions.flatMap((here) =>
          legalMoves(here, rules).map((move) => ({ move, fen: play(here, move.uci) })),
        );
        reached = next.some(
          ({ move }) =>
            move.to === goal.reach || (goal.den && move.den) || move.captures === goal.capture?.toUpperCase(),
        );
        positions = next.map((entry) => entry.fen.replace(/ b$/, " w"));
      }
      assert.ok(reached, `${key} under ${text}`);
    }
  }
});
