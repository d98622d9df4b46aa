// The scores of the first moves. With DSQ_WRITE_OPENING=1 the test writes them.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { legalMoves } from "../../src/assets/movegen.js";
import { openingCosts, openingPositions } from "../../src/assets/opening-scores.js";
import { START } from "../../src/assets/position.js";
import { readRules, spelledOut } from "../../src/assets/ruleset.js";

const FILE = new URL("../../src/assets/opening.js", import.meta.url);
const RESULTS = new URL("../../../../results/opening.jsonl", import.meta.url);
const PAPER = readRules("paper");

test("the scores of the opening are those of the results", async () => {
  const lines = readFileSync(RESULTS, "utf8").trim().split("\n").map(JSON.parse);
  const results = new Map(lines.map(({ fen, moves }) => [fen, Object.fromEntries(moves)]));
  const positions = openingPositions();
  assert.deepEqual([...positions].sort(), [...results.keys()].sort());
  const scores = (fen) => legalMoves(fen, PAPER).map(({ san }) => results.get(fen)[san]);
  const text = positions.map((fen) => scores(fen).join()).join(";");
  assert.match(text, /^[-,;\d]+$/);
  const head = [
    "// The scores of results/opening.jsonl in hundredths of a cat, for the side to move: of the legal moves of each",
    "// position, in the order of opening-scores.js. `DSQ_WRITE_OPENING=1 npm run unit` writes this file.",
    "// eslint-disable-next-line max-len",
  ];
  if (process.env.DSQ_WRITE_OPENING) writeFileSync(FILE, [...head, `export default "${text}";`, ""].join("\n"));
  assert.equal((await import(FILE.href)).default, text);
});

test("the first moves have costs under the rules of the search only", async () => {
  const costs = (fen, rules = "paper") =>
    new Promise((resolve) => {
      const find = () => openingCosts(fen, spelledOut(readRules(rules)), () => resolve(find()));
      const found = find();
      if (found !== undefined) resolve(found);
    });
  const first = await costs(START);
  assert.deepEqual([first.size, first.get("g3g4"), first.get("a3a2")], [24, 0, 10]);
  assert.equal(await costs(START, "chinese"), null);
  assert.equal(await costs("7/7/3e3/7/7/7/3E3/7/7 w"), null);
});
