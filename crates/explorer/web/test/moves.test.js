// Moves as the page shows and speaks them.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inLetters, moveText, setLanguage, spoken, t } from "../../src/assets/ui.js";

globalThis.document = { documentElement: {} };
after(() => setLanguage("en"));

test("moves are in letters in English, and with animals in Chinese", async () => {
  assert.equal(moveText("1. Cc1 Lxd9??"), "1. Cc1 Lxd9??");
  assert.equal(spoken("Lxd9??"), "lion takes on d9, blunder");
  await setLanguage("zh");
  assert.equal(moveText("1. Cc1 Lxd9??"), "1. 猫c1 狮xd9??");
  // A FEN is no move.
  assert.equal(moveText("7/E6/7 w"), "7/E6/7 w");
  assert.equal(t("match.hint", { move: "Ed7" }), "提示：象d7");
  assert.equal(inLetters("猫c1"), "Cc1");
  assert.equal(inLetters("Cc1"), "Cc1");
  for (const text of ["狮xd9??", "Lxd9??"]) assert.equal(spoken(text), "狮吃 d9，败着");
});
