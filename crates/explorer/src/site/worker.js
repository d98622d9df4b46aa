// The worker of a page without a server: answers the requests of the HTTP API, one after the other.

import { startAnswers } from "./answers.js";

/** @type {number} The request that is being answered. */
let current;

/**
 * @param {string} name
 */
async function file(name) {
  const response = await fetch(new URL(name, import.meta.url));
  if (!response.ok) throw new Error(`${name}: ${response.status}`);
  return response;
}

async function start() {
  const [code, puzzles] = await Promise.all([
    file("answers.wasm").then((found) => found.arrayBuffer()),
    file("puzzles.jsonl").then((found) => found.text()),
  ]);
  return startAnswers(code, puzzles, (event, data) => postMessage({ id: current, event, data }));
}

const starting = start();

addEventListener("message", async ({ data: { id, method, address, body } }) => {
  const answers = await starting.catch((error) => postMessage({ id, failure: error.message }));
  if (!answers) return;
  try {
    current = id;
    postMessage({ id, ...answers.answer(method, address, body) });
  } catch (error) {
    // After a panic the module must not be used.
    const text = JSON.stringify({ error: { code: "unavailable", message: error.message } });
    postMessage({ id, status: 500, body: text, broken: true });
  }
});
