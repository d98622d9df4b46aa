// The worker of a page without a server: answers the requests of the HTTP API, one after the other.

import { file, requestPart, startAnswers } from "./answers.js";

/**
 * By preset of the rules, the file of the engine's network. The site's writer fills it in.
 * @type {Record<string, string>}
 */
const NETWORKS = {};

/** @type {number | undefined} The request that is being answered. */
let current;

async function start() {
  const [code, puzzles] = await Promise.all([
    file("answers.wasm").then((found) => found.arrayBuffer()),
    unpacked("puzzles.bin"),
  ]);
  const event = (/** @type {string} */ name, /** @type {string} */ data) =>
    postMessage(name === "fault" ? { id: current, fault: JSON.parse(data) } : { id: current, event: name, data });
  const network = (/** @type {string} */ preset) => unpacked(NETWORKS[preset]);
  // Without tables nothing is requested.
  return startAnswers(code, puzzles, event, network, location.search === "?tables" ? requestPart : undefined);
}

/**
 * The content of a compressed file.
 * @param {string} name
 */
async function unpacked(name) {
  const { body } = await file(name);
  return new Uint8Array(await new Response(body?.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
}

const starting = start();

/**
 * The answer to a request that failed. After that, the worker must not be used.
 * @param {string} code
 * @param {Error} error
 */
const broken = (code, { message }) => ({
  status: 500,
  body: JSON.stringify({ error: { code, message } }),
  broken: true,
});

/**
 * @typedef {{ method: string, address: string, body?: string, counted?: import("./answers.js").Counted }} Asked
 * @param {Asked & { id: number }} request
 */
async function respond({ id, method, address, body, counted }) {
  try {
    const answers = await starting;
    current = id;
    try {
      if (counted) postMessage({ id, status: answers.keep(counted) ? 200 : 507, body: "" });
      else postMessage({ id, ...(await answers.answer(method, address, body)) });
    } catch (error) {
      if (error instanceof TypeError) throw error;
      postMessage({ id, ...broken("module_failed", error) });
    }
  } catch (error) {
    // `fetch` reports a missing network, or a missing file, by this type.
    if (error instanceof TypeError) postMessage({ id, failure: error.message });
    else postMessage({ id, ...broken("no_module", error) });
  }
}

/** Fulfilled when the requests so far are answered. */
let last = Promise.resolve();

addEventListener("message", ({ data }) => {
  last = last.then(() => respond(data));
});
