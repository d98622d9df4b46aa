import assert from "node:assert/strict";
import { test } from "node:test";
import { Game } from "../../src/assets/game.js";
import { START } from "../../src/assets/position.js";

const line = (game) =>
  game
    .line()
    .slice(1)
    .map((node) => node.uci);

test("moves extend the line, another move is a variation", () => {
  const game = new Game(START);
  game.play("a3b3");
  game.play("g7f7");
  assert.deepEqual(line(game), ["a3b3", "g7f7"]);
  game.goTo(1);
  game.play("a7a6");
  assert.deepEqual(line(game), ["a3b3", "a7a6"]);
  assert.equal(game.cursor.parent.children.length, 2);
  game.goTo(1);
  game.play("g7f7");
  assert.equal(game.cursor.parent.children.length, 2, "a known move is not added again");
});

test("going to a ply stops at both ends", () => {
  const game = new Game(START);
  for (const uci of ["a3b3", "g7f7", "b3c3"]) game.play(uci);
  game.goTo(-5);
  assert.equal(game.cursor, game.root);
  game.goTo(Infinity);
  assert.equal(game.cursor.ply, 3);
});

test("what is undone can be done again", () => {
  const game = new Game(START);
  game.play("a3b3");
  game.play("g7f7");
  const fen = game.cursor.fen;
  game.undo();
  assert.deepEqual(line(game), ["a3b3"]);
  game.redo();
  assert.equal(game.cursor.fen, fen);
  game.undo();
  game.undo();
  assert.equal(game.undo(), false, "nothing is left to undo");
  assert.equal(game.cursor.fen, START);
});

test("a variation that is promoted becomes the main line", () => {
  const game = new Game(START);
  game.play("a3b3");
  game.goTo(0);
  game.play("a3a4");
  game.promote(game.cursor);
  assert.equal(game.root.children[0].uci, "a3a4");
  game.remove(game.root.children[0]);
  assert.deepEqual(
    game.root.children.map((node) => node.uci),
    ["a3b3"],
  );
});

test("the halfmove clock stays with the start", () => {
  const game = new Game(`${START} 9`);
  assert.equal(game.start(), `${START} 9`);
  assert.equal(game.root.fen, START);
});
