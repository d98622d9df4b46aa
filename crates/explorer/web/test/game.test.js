import assert from "node:assert/strict";
import { test } from "node:test";
import { Game } from "../../src/assets/game.js";
import { START } from "../../src/assets/position.js";
import { parseTree, treeText } from "../../src/assets/variations.js";

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

test("the halfmove clock stays with the start and runs until a capture", () => {
  const game = new Game(`${START} 9`);
  assert.equal(game.start(), `${START} 9`);
  assert.equal(game.root.fen, START);
  assert.equal(game.play("a3b3").clock, 10);
  const capture = new Game("7/7/7/7/3c3/3D3/7/7/c6 w 30");
  assert.equal(capture.play("d4d5").clock, 0);
});

test("a line is read up to the first move that the rules forbid", () => {
  const shore = "7/7/7/7/7/rR5/7/7/6L w";
  for (const [rules, read] of [
    ["paper", 1],
    ["chinese", 0],
  ]) {
    const game = new Game(shore, { rules });
    assert.equal(game.read(game.root, ["b4a4", "g1g2"]), read, rules);
    assert.equal(game.line().length, read + 1, rules);
  }
  const repeating = ["a3b3", "a7b7", "b3a3", "b7a7", "a3b3"];
  const cazaux = new Game(START, { rules: "cazaux" });
  assert.equal(cazaux.read(cazaux.root, repeating), 3, "a repetition is illegal");
  const paper = new Game(START);
  assert.equal(paper.read(paper.root, repeating), 5);
});

test("other rules remove the moves that they forbid, and undoing brings both back", () => {
  const game = new Game("7/7/7/7/7/rR5/7/r6/6L w");
  game.play("b4b3");
  game.goTo(0);
  const taken = game.play("b4a4");
  game.play("a2a3");
  Object.assign(taken, { nags: [4], reviewed: true });
  assert.equal(game.changeRules("chinese"), taken);
  assert.equal(game.cursor, game.root);
  assert.deepEqual(
    game.root.children.map((node) => node.uci),
    ["b4b3"],
  );
  assert.equal(game.changeRules("bell"), null, "no move of the line is removed");
  game.undo();
  game.undo();
  assert.equal(game.rules, "paper");
  assert.deepEqual(line(game), ["b4a4", "a2a3"]);
});

test("a ply that is no number is the start", () => {
  const game = new Game(START);
  game.play("a3b3");
  game.goTo(Number("x"));
  assert.equal(game.cursor, game.root);
});

test("assessments are told apart", () => {
  const { cursor } = new Game(START);
  for (const [nags, text] of [
    [[], ""],
    [[1], "!"],
    [[1, 5, 14], "! !? $14"],
    [[14, 4], " $14 ??"],
  ]) {
    cursor.nags = nags;
    assert.equal(cursor.mark, text);
  }
});

test("notes and arrows are kept in the text of a line", () => {
  const game = new Game(START);
  game.play("a3b3").annotate("why (not) {so}?", [
    [14, 15],
    [0, 62],
  ]);
  game.play("g7f7");
  game.goTo(1);
  game.play("a7a6").annotate("其他.", []);
  game.goTo(1);
  const text = treeText(game.root);
  assert.equal(text, "a3b3{why (not) so? [%cal Ga3b3,Ga1g9]}.a7a6{其他.}(g7f7)");
  const other = new Game(START);
  assert.equal(other.read(other.root, parseTree(text)), 2);
  assert.equal(treeText(other.root), text);
  const [first] = other.root.children;
  assert.deepEqual([first.note, first.arrows], ["why (not) so?", game.cursor.arrows]);
  first.annotate("", []);
  assert.equal(first.comment, "");
  assert.equal(treeText(game.root, true), "a3b3.a7a6");
  // What a review has written is not the user's, and a brace that nothing closes ends the line.
  Object.assign(first, { comment: "lost 1.20", reviewed: true });
  assert.match(treeText(other.root), /^a3b3\.a7a6/);
  assert.equal(other.read(other.root, parseTree("a3b3.{a7a6")), 1);
});
