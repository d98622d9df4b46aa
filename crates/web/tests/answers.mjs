// Answers requests by the module of a site, as its worker does: node answers.mjs SITE [COUNT] < requests.json > answers.json
// With COUNT, a query, other modules solve the class of its position before, without and with a no-capture limit.
// A request is [method, address, body], an answer {status, body, events}.

import { closeSync, existsSync, fstatSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { MISSING, startAnswers, startTasks } from "../../explorer/src/site/answers.js";

const [, , site, count] = process.argv;
const file = (name) => join(site, name);
const listed = readFileSync(file("sw.js"), "utf8");
/** A file whose name contains a hash. The folder may also have that of the version before. */
const hashed = (pattern) => file(readdirSync(site).find((name) => pattern.test(name) && listed.includes(`"${name}"`)));
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
const code = readFileSync(hashed(/^answers\..*\.wasm$/));
const answers = await startAnswers(
  code,
  gunzipSync(readFileSync(hashed(/^puzzles\..*\.bin$/))),
  (name, data) => events.push([name, JSON.parse(data)]),
  async (preset) => gunzipSync(readFileSync(hashed(new RegExp(`^${preset}\\..*\\.bin$`)))),
  readPart,
);
const counts = count ? [count, `${count}&no_capture_limit=100`] : [];
for (const query of counts) answers.keep(await (await startTasks(code, () => {})).count(query, "cpu"));
const given = [];
for (const request of JSON.parse(readFileSync(0, "utf8"))) {
  events = [];
  given.push({ ...(await answers.answer(...request)), events });
}
process.stdout.write(JSON.stringify(given));
