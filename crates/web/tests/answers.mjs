// Answers requests by the module of a site, as its worker does: node answers.mjs SITE < requests.json > answers.json
// A request is [method, address, body], an answer {status, body, events}.

import { closeSync, existsSync, fstatSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { MISSING, startAnswers } from "../../explorer/src/site/answers.js";

const [, , site] = process.argv;
const file = (name) => join(site, name);
/** A file whose name contains a hash. */
const hashed = (pattern) => file(readdirSync(site).find((name) => pattern.test(name)));
let events = [];
/** A part of a file, and the length of the file, as a host of static files sends them. */
const readPart = (path, at, length) => {
  if (!existsSync(file(path))) return MISSING;
  const opened = openSync(file(path), "r");
  const bytes = Buffer.alloc(length);
  const read = readSync(opened, bytes, 0, length, at);
  const { size } = fstatSync(opened);
  closeSync(opened);
  return { bytes: bytes.subarray(0, read), length: size };
};
const answers = await startAnswers(
  readFileSync(hashed(/^answers\..*\.wasm$/)),
  readFileSync(hashed(/^puzzles\..*\.jsonl$/), "utf8"),
  (name, data) => events.push([name, JSON.parse(data)]),
  readPart,
);
const given = JSON.parse(readFileSync(0, "utf8")).map((request) => {
  events = [];
  return { ...answers.answer(...request), events };
});
process.stdout.write(JSON.stringify(given));
