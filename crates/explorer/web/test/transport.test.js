// The workers of a page without a server: a class that one worker solves goes to the one that answers.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

/** The workers that the page has started, with the messages that they received. */
let workers = [];
globalThis.document = { documentElement: { dataset: { worker: "worker.js", device: "device-worker.js" } } };
globalThis.Worker = class extends EventTarget {
  constructor(script) {
    super();
    Object.assign(this, { script, received: [], ended: false });
    workers.push(this);
  }
  postMessage(message, { transfer = [] } = {}) {
    this.received.push(structuredClone(message, { transfer }));
  }
  terminate() {
    this.ended = true;
  }
  say(data) {
    this.dispatchEvent(new MessageEvent("message", { data }));
  }
};
const { openCount, send } = await import("../../src/assets/transport.js");

/** A count whose worker has been started, and the names of its events with their data. */
function count(limit = null) {
  const stream = openCount("/api/v1/count?fen=x", limit);
  const events = [];
  for (const name of ["progress", "done", "failed"])
    stream.addEventListener(name, ({ data }) => events.push([name, data && JSON.parse(data)]));
  return { stream, events, worker: counting() };
}
const counting = () => workers.find(({ script, ended }) => script === "device-worker.js" && !ended);
const answering = () => workers.findLast(({ script }) => script === "worker.js");
const counted = () => ({ head: "{}", values: [new Uint8Array(8), new Uint8Array(8)] });
const failure = ([name, data]) => [name, data.error.reason, data.error.params.reason];

beforeEach(() => (workers = workers.filter(({ script }) => script === "worker.js")));

test("a solved class goes to the worker that answers, which keeps it", () => {
  const { events, worker } = count();
  assert.deepEqual(worker.received, [{ count: "fen=x" }]);
  worker.say({ event: "progress", data: '{"fraction":0.5,"seconds_left":3}' });
  const { head, values } = counted();
  worker.say({ counted: { head, values } });
  assert.ok(worker.ended && values.every(({ length }) => length === 0), "the values are moved, not copied");
  const { id, counted: kept } = answering().received.at(-1);
  assert.deepEqual([kept.head, kept.values.map(({ length }) => length)], ["{}", [8, 8]]);
  assert.deepEqual(events, [["progress", { fraction: 0.5, seconds_left: 3 }]]);
  answering().say({ id, status: 200, body: "" });
  assert.deepEqual(events.at(-1), ["done", null]);
});

test("a count that fails says why", () => {
  const lacking = count();
  lacking.worker.say({ counted: counted() });
  answering().say({ id: answering().received.at(-1).id, status: 507, body: "" });
  assert.deepEqual(failure(lacking.events[0]), ["failed", "no_memory_here", ""]);

  const broken = count();
  broken.worker.say({ error: "unreachable" });
  assert.deepEqual(failure(broken.events[0]), ["failed", "cannot_solve_here", "unreachable"]);

  const missing = count();
  missing.worker.dispatchEvent(new Event("error"));
  assert.deepEqual(failure(missing.events[0]), ["failed", "cannot_solve_here", "the worker cannot be loaded"]);
});

test("a class is lost with the worker that should keep it, and requests are not", async () => {
  const { events, worker } = count();
  const answer = send("/api/v1/status");
  worker.say({ counted: counted() });
  const before = answering();
  const { id } = before.received.at(-2);
  before.say({ id: id + 99, broken: true, status: 500, body: "" });
  assert.ok(before.ended && answering() !== before);
  assert.deepEqual(failure(events[0]), ["failed", "no_memory_here", ""]);
  assert.deepEqual(answering().received, [{ id, method: "GET", address: "/api/v1/status", body: undefined }]);
  answering().say({ id, status: 200, body: "{}" });
  assert.equal((await answer).status, 200);
});

/** The worker that answers has kept the last class. */
const keep = (status = 200) => answering().say({ id: answering().received.at(-1).id, status, body: "" });

test("a class is also solved under the limit, as one count", () => {
  const { events, worker } = count(100);
  worker.say({ event: "progress", data: '{"fraction":0.5,"seconds_left":3}' });
  worker.say({ counted: counted() });
  assert.equal(counting(), undefined, "one count after the other");
  keep();
  const second = counting();
  assert.deepEqual(second.received, [{ count: "fen=x&no_capture_limit=100" }]);
  second.say({ event: "progress", data: '{"fraction":0.5,"seconds_left":3}' });
  second.say({ counted: counted() });
  keep();
  assert.deepEqual(
    events.map(([name, report]) => [name, report?.fraction]),
    [
      ["progress", 0.25],
      ["progress", 0.75],
      ["done", undefined],
    ],
  );
  assert.ok(events[0][1].seconds_left >= 6 && events[1][1].seconds_left === 3);
});

test("the distances stay if the count under the limit fails", () => {
  const { events, worker } = count(100);
  worker.say({ counted: counted() });
  keep();
  counting().say({ error: "unreachable" });
  assert.deepEqual(events, [["done", null]]);
});

test("a count that is closed ends its worker", () => {
  const { stream, worker } = count();
  stream.close();
  assert.ok(worker.ended);
  const between = count(100);
  between.worker.say({ counted: counted() });
  between.stream.close();
  keep();
  assert.equal(counting(), undefined);
});
