// How the page gets answers: from its server or, where `data-worker` of the page names one, from workers of its own.

import { begin } from "./pending.js";

/** @type {{ worker?: string, device?: string }} The scripts of workers that answer, and of one that solves endgames. */
const { worker: WORKER, device: DEVICE } = globalThis.document?.documentElement?.dataset ?? {};

/** Whether a server answers, which other pages may ask, too. */
export const hasServer = !WORKER;

/** The requests that take seconds have a worker of their own, which ends when nobody waits for its answer. */
const SLOW = /\/(analyze|bestmove|review)(\?|$)/;

/**
 * @typedef {{ method: string, address: string, body?: string | null }} Asked
 * @typedef {{ head: string, values: Uint8Array[] }} Counted a class of endgames (site/answers.js)
 * @typedef {object} Message
 * @property {number} id of the request; a fault at the start has none
 * @property {number} [status]
 * @property {string} [body]
 * @property {string} [event] the name of an event, with its data
 * @property {string} [data]
 * @property {string} [failure] why the worker cannot start
 * @property {boolean} [broken] whether the worker must not be used any longer
 * @property {string} [fault] why tables of the page cannot be used: all, if it belongs to no request
 */

/** @type {(reason: string, all: boolean) => void} */
let reportFault = () => {};

/**
 * Calls `act` with the reason if all tables of a page with workers, or one that a request needs, cannot be used.
 * @param {(reason: string, all: boolean) => void} act
 */
export function onFault(act) {
  reportFault = act;
}

/** @type {(_?: unknown) => void} */
let settleWorker;
/** Fulfilled when a worker has answered for the first time, or cannot be loaded. */
export const workerSettled = new Promise((resolve) => {
  settleWorker = resolve;
});

/** A worker, and the requests that it has not answered yet. */
class Answers {
  /** @type {Worker | null} */
  worker = null;
  /** @type {Map<number, { asked: Asked | null, act: (message: Message) => void }>} */
  waiting = new Map();
  last = 0;

  /**
   * Asks for an answer; returns its number.
   * @param {Asked} asked
   * @param {(message: Message) => void} act receives the events and the answer
   */
  ask(asked, act) {
    const id = ++this.last;
    this.waiting.set(id, { asked, act });
    if (this.worker) this.worker.postMessage({ id, ...asked });
    else this.start();
    return id;
  }

  /**
   * Gives the worker a class, which cannot be sent a second time.
   * @param {Counted} counted
   * @param {(message: Message) => void} act
   */
  keep(counted, act) {
    if (!this.worker) this.start();
    const id = ++this.last;
    this.waiting.set(id, { asked: null, act });
    this.worker?.postMessage({ id, counted }, { transfer: counted.values.map(({ buffer }) => buffer) });
  }

  start() {
    const worker = new Worker(WORKER ?? "", { type: "module" });
    worker.addEventListener("message", ({ data }) => this.receive(data));
    worker.addEventListener("error", () => this.fail());
    this.worker = worker;
    for (const [id, { asked, act }] of this.waiting) {
      if (asked) worker.postMessage({ id, ...asked });
      else {
        this.waiting.delete(id);
        act({ id, failure: "the worker has ended" });
      }
    }
  }

  /** @param {Message} message */
  receive(message) {
    settleWorker();
    if (message.fault !== undefined) return reportFault(message.fault, message.id === undefined);
    const found = this.waiting.get(message.id);
    if (!message.event || message.event === "done") this.waiting.delete(message.id);
    if (message.failure !== undefined || message.broken) this.end();
    found?.act(message);
  }

  /** The worker cannot be loaded. */
  fail() {
    settleWorker();
    const all = [...this.waiting];
    this.waiting.clear();
    this.end();
    for (const [id, { act }] of all) act({ id, failure: "the worker cannot be loaded" });
  }

  end() {
    this.worker?.terminate();
    this.worker = null;
    if (this.waiting.size) this.start();
  }

  /**
   * Ends the work on a request, if nobody waits for its answer any longer. Another worker answers the other requests.
   * @param {number} id
   */
  drop(id) {
    if (!this.waiting.delete(id)) return;
    this.end();
    // The next request finds it ready.
    if (!this.worker) this.start();
  }
}

const [quick, slow] = [new Answers(), new Answers()];

/** The events of an analysis in a worker, as an `EventSource` reports those of a server. */
class Stream extends EventTarget {
  /** @param {string} address */
  constructor(address) {
    super();
    this.id = slow.ask({ method: "GET", address }, ({ event, data, failure, status }) => {
      if (event) this.dispatchEvent(new MessageEvent(event, { data }));
      else if (failure !== undefined || status !== 200) this.dispatchEvent(new Event("error"));
    });
  }

  close() {
    slow.drop(this.id);
  }
}

/**
 * The events of a count, as an `EventSource` reports those of a server: of the distances, then of the results under the
 * no-capture limit, each in a worker of its own. If only the second fails, the distances are the answer.
 */
class Count extends EventTarget {
  /**
   * @param {string} address
   * @param {number | null} limit the plies without a capture that draw the game; null for no limit
   */
  constructor(address, limit) {
    super();
    const query = address.split("?")[1] ?? "";
    this.queries = limit === null ? [query] : [query, `${query}&no_capture_limit=${limit}`];
    this.done = 0;
    this.closed = false;
    this.next();
  }

  next() {
    this.started = performance.now();
    this.worker = new Worker(/** @type {string} */ (DEVICE), { type: "module" });
    this.worker.addEventListener("message", ({ data }) => this.receive(data));
    this.worker.addEventListener("error", () => this.fail("cannot_solve_here", "the worker cannot be loaded"));
    this.worker.postMessage({ count: this.queries[this.done] });
  }

  /** @param {{ event?: string, data?: string, counted?: Counted, error?: string }} message */
  receive({ event, data, counted, error }) {
    if (event === "progress") return this.report(JSON.parse(data ?? ""));
    if (event) return this.dispatchEvent(new MessageEvent(event, { data }));
    this.worker?.terminate();
    if (!counted) return this.fail("cannot_solve_here", error);
    quick.keep(counted, ({ status }) => {
      if (status !== 200) this.fail("no_memory_here");
      else if (++this.done === this.queries.length) this.dispatchEvent(new MessageEvent("done"));
      else if (!this.closed) this.next();
    });
  }

  /** @param {Api.CountProgress} report of one of the counts */
  report(report) {
    const [all, elapsed] = [this.queries.length, (performance.now() - (this.started ?? 0)) / 1000];
    const seconds_left = report.seconds_left + (all - this.done - 1) * (elapsed + report.seconds_left);
    const data = { ...report, fraction: (this.done + report.fraction) / all, seconds_left };
    this.dispatchEvent(new MessageEvent("progress", { data: JSON.stringify(data) }));
  }

  /**
   * @param {string} reason the key of a text
   * @param {string} [detail]
   */
  fail(reason, detail = "") {
    if (this.done > 0) return this.dispatchEvent(new MessageEvent("done"));
    const error = { code: "unavailable", message: detail, reason, params: { reason: detail } };
    this.dispatchEvent(new MessageEvent("failed", { data: JSON.stringify({ error }) }));
  }

  close() {
    this.closed = true;
    this.worker?.terminate();
  }
}

/**
 * The response to a request, as `fetch` returns it.
 * @param {string} address
 * @param {RequestInit} [options]
 * @returns {Promise<Response>}
 */
export function send(address, options = {}) {
  if (hasServer) return fetch(address, options);
  const { method = "GET", body, signal } = options;
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const answers = SLOW.test(address) ? slow : quick;
    const asked = { method, address, body: /** @type {string | undefined} */ (body) };
    const id = answers.ask(asked, ({ failure, status, body: text }) => {
      if (failure !== undefined) reject(new TypeError(failure));
      else resolve(new Response(text, { status }));
    });
    signal?.addEventListener("abort", () => {
      if (answers === slow) slow.drop(id);
      reject(signal.reason);
    });
  });
}

/** The events of all streams. */
const EVENTS = ["info", "progress", "done", "failed", "error"];

/**
 * The events of an analysis.
 * @param {string} address
 */
export const openStream = (address) => opened(address, hasServer ? new EventSource(address) : new Stream(address));

/**
 * The events of a count. A server knows the limits of its tables.
 * @param {string} address
 * @param {number | null} limit the plies without a capture that draw the game; null for no limit
 */
export const openCount = (address, limit) =>
  opened(address, hasServer ? new EventSource(address) : new Count(address, limit));

/**
 * @param {string} address
 * @param {EventTarget & { close: () => void }} made
 * @returns {EventSource}
 */
function opened(address, made) {
  const stream = /** @type {EventSource} */ (made);
  const end = begin(address);
  for (const event of EVENTS) stream.addEventListener(event, end);
  const close = stream.close.bind(stream);
  stream.close = () => {
    end();
    close();
  };
  return stream;
}

/** Whether the server answers. */
export const reachable = async () =>
  !hasServer ||
  fetch("/healthz", { cache: "no-store" }).then(
    (response) => response.ok,
    () => false,
  );
