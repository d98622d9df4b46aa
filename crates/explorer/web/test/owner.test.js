// An answer counts only while its question is open.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Owner } from "../../src/assets/owner.js";

/** A question that is answered, or fails, when the test says so. */
function question() {
  const asked = {};
  const promise = new Promise((answer, fail) => Object.assign(asked, { answer, fail }));
  return { make: () => promise, ...asked };
}

const settled = () => new Promise((resolve) => setTimeout(resolve));

test("the newest question wins, whatever is answered first", async () => {
  const owner = new Owner();
  const [older, newer] = [question(), question()];
  const heard = [];
  owner.ask(older.make).then((answer) => heard.push(answer));
  owner.ask(newer.make).then((answer) => heard.push(answer));
  newer.answer("newer");
  older.answer("older");
  await settled();
  assert.deepEqual(heard, ["newer"]);
  assert.equal(owner.asking, false);
});

test("a dropped question is aborted, and neither answered nor failed", async () => {
  const owner = new Owner();
  for (const end of ["answer", "fail"]) {
    const late = question();
    const heard = [];
    const signals = [];
    owner
      .ask((signal) => {
        signals.push(signal);
        return late.make();
      })
      .then(heard.push, heard.push);
    assert.equal(owner.asking, true);
    owner.drop();
    late[end]("late");
    await settled();
    assert.deepEqual([heard, signals[0].aborted, owner.asking], [[], true, false], end);
  }
});

test("a question that is open fails", async () => {
  const owner = new Owner();
  await assert.rejects(
    owner.ask(() => Promise.reject(new Error("no"))),
    /no/,
  );
  assert.equal(owner.asking, false);
});
