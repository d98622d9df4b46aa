// Answers requests by the module of a site, as its worker does: node answers.mjs SITE < requests.json > answers.json
// A request is [method, address, body], an answer {status, body, events}.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const file = (name) => join(process.argv[2], name);
const { startAnswers } = await import(pathToFileURL(file("answers.js")));
let events = [];
const answers = await startAnswers(
  readFileSync(file("answers.wasm")),
  readFileSync(file("puzzles.jsonl"), "utf8"),
  (name, data) => events.push([name, JSON.parse(data)]),
);
const given = JSON.parse(readFileSync(0, "utf8")).map((request) => {
  events = [];
  return { ...answers.answer(...request), events };
});
process.stdout.write(JSON.stringify(given));
