// The worker of a page without a server: answers the requests of the HTTP API, one after the other.

import { file, requestPart, startAnswers } from "./answers.js";

/** @type {number | undefined} The request that is being answered. */
let current;

async function start() {
  const [code, puzzles, network] = await Promise.all([
    file("answers.wasm").then((found) => found.arrayBuffer()),
    file("puzzles.bin").then(unpacked),
    location.hash === "#engine" ? file("network.bin").then(unpacked) : null,
  ]);
  const event = (/** @type {string} */ name, /** @type {string} */ data) =>
    postMessage(name === "fault" ? { id: current, fault: JSON.parse(data) } : { id: current, event: name, data });
  // Without tables nothing is requested.
  const answers = await startAnswers(code, puzzles, event, location.search === "?tables" ? requestPart : undefined);
  if (network) answers.network(network);
  return answers;
}

/**
 * The content of a compressed file.
 * @param {Response} response
 */
const unpacked = async ({ body }) =>
  new Uint8Array(await new Response(body?.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());

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

addEventListener("message", async ({ data: { id, method, address, body, counted } }) => {
  try {
    const answers = await starting;
    current = id;
    try {
      if (counted) postMessage({ id, status: answers.keep(counted) ? 200 : 507, body: "" });
      else postMessage({ id, ...answers.answer(method, address, body) });
    } catch (error) {
      postMessage({ id, ...broken("module_failed", error) });
    }
  } catch (error) {
    // `fetch` reports a missing network, or a missing file, by this type.
    if (error instanceof TypeError) postMessage({ id, failure: error.message });
    else postMessage({ id, ...broken("no_module", error) });
  }
});
