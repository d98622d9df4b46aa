// How the page gets answers: from its server or, where `data-worker` of the page names one, from workers of its own.

/** @type {{ worker?: string }} */
const { worker: WORKER } = globalThis.document?.documentElement?.dataset ?? {};

/** The requests that take seconds have a worker of their own, which ends when nobody waits for its answer. */
const SLOW = /\/(analyze|bestmove|review)(\?|$)/;

/**
 * @typedef {{ method: string, address: string, body?: string | null }} Asked
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
  /** @type {Map<number, { asked: Asked, act: (message: Message) => void }>} */
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

  start() {
    const worker = new Worker(/** @type {string} */ (WORKER), { type: "module" });
    worker.addEventListener("message", ({ data }) => this.receive(data));
    worker.addEventListener("error", () => this.fail());
    for (const [id, { asked }] of this.waiting) worker.postMessage({ id, ...asked });
    this.worker = worker;
  }

  /**
   * @param {Message} message
   */
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
  /**
   * @param {string} address
   */
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
 * The response to a request, as `fetch` returns it.
 * @param {string} address
 * @param {RequestInit} [options]
 * @returns {Promise<Response>}
 */
export function send(address, options = {}) {
  if (!WORKER) return fetch(address, options);
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

/**
 * The events of an analysis or a count.
 * @param {string} address
 * @returns {EventSource}
 */
export const openStream = (address) => (WORKER ? /** @type {any} */ (new Stream(address)) : new EventSource(address));

/** Whether the server answers. */
export const reachable = async () =>
  WORKER !== undefined ||
  fetch("/healthz", { cache: "no-store" }).then(
    (response) => response.ok,
    () => false,
  );
