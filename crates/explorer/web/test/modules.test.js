// Properties of all files of the page together.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

const ASSETS = new URL("../../src/assets/", import.meta.url);
const read = (file) => readFileSync(new URL(file, ASSETS), "utf8");
const files = readdirSync(ASSETS);
const modules = files.filter((file) => file.endsWith(".js"));

/** The modules that a module imports when it is loaded; imports on demand are left out. */
const imports = (file) =>
  [...read(file).matchAll(/^(?:import|export)\s[^;]*?from "\.\/([^"]+)";/gm)].map((found) => found[1]);

test("no modules import each other in a circle", () => {
  const done = new Set();
  const visit = (file, path) => {
    assert.ok(!path.includes(file), `${[...path, file].join(" imports ")}`);
    if (done.has(file)) return;
    for (const other of imports(file)) visit(other, [...path, file]);
    done.add(file);
  };
  for (const file of modules) visit(file, []);
});

// The server joins the modules line by line: see bundle.rs.
test("the server can join the modules", () => {
  const known = [
    /^import (\{[^}]*\}|\* as \w+|\w+) from "\.\/[^"]+";$/,
    /^export (const|class|function|async function) [\w$]+/,
    /^export default /,
  ];
  for (const file of modules) {
    const text = read(file);
    for (const [statement] of text.matchAll(/^import [^;]*;|^export .*/gm))
      assert.ok(
        known.some((form) => form.test(statement)),
        `${file}: ${statement}`,
      );
    const quoted = text.split("\n").filter((line) => line.split("`").length % 2 === 0);
    assert.deepEqual(quoted, [], `${file}: a text of several lines could contain what looks like a comment`);
  }
});

test("nothing is loaded from other hosts, and nothing is styled in the markup", () => {
  for (const file of files) {
    const text = read(file).replaceAll("http://www.w3.org/", "");
    assert.doesNotMatch(text, /https?:\/\//, file);
    assert.doesNotMatch(text, /\sstyle="/, file);
  }
});

test("lines are at most 120 characters long", () => {
  for (const file of files.filter((name) => /\.(css|html)$/.test(name))) {
    const long = read(file)
      .split("\n")
      .flatMap((line, i) => (line.length > 120 ? [i + 1] : []));
    assert.deepEqual(long, [], file);
  }
});

test("every error of the server has a message in Chinese", async () => {
  const sources = ["../", "../../../answers/src/"].flatMap((path) => {
    const folder = new URL(path, ASSETS);
    return readdirSync(folder).flatMap((file) => (file.endsWith(".rs") ? [new URL(file, folder)] : []));
  });
  const rust = sources.map((file) => readFileSync(file, "utf8")).join("\n");
  const found = (pattern) => [...rust.matchAll(pattern)].map((match) => match[1]);
  const codes = found(/= "([a-z_]+)", \d{3};/g);
  const reasons = [
    ...found(/reason\("([a-z_]+)"\)/g),
    ...found(/"([a-z_]+_to_count)"/g),
    ...found(/parameter\(\s*\w+,\s*"([a-z_]+)"/g),
  ];
  assert.ok(codes.length > 15 && reasons.length > 55, `${codes.length} codes, ${reasons.length} reasons`);
  const files = ["messages.zh.js", "strings.zh.js", "strings-play.zh.js"];
  const parts = await Promise.all(files.map((file) => import(new URL(file, ASSETS).href)));
  const strings = Object.assign({}, ...parts.map((part) => part.default));
  // The page reports the rate limit of an address as a busy server.
  const known = (name) => name === "rate_limited" || `reason.${name}` in strings || `error.${name}` in strings;
  assert.deepEqual(
    [...new Set([...codes, ...reasons])].filter((name) => !known(name)),
    [],
  );
});

test("Chinese has its own punctuation, and one term for one thing", async () => {
  const { strings } = (await import(new URL("zh.js", ASSETS).href)).default;
  for (const [key, text] of Object.entries(strings)) {
    assert.doesNotMatch(text, /[\u4e00-\u9fff][,.;:!?()]|[,;:!()][\u4e00-\u9fff]|[^…]…$/, key);
    assert.doesNotMatch(text, /湖|水中|大错|随时|路线|楚茨文克|无子可走/, key);
  }
});

// Big5 contains the traditional characters, and none that are simplified only.
test("traditional Chinese has no simplified character left", async () => {
  const bytes = Array.from({ length: 0x7d }, (_, i) => 0x81 + i).flatMap((lead) =>
    Array.from({ length: 0xbf }, (_, i) => [lead, 0x40 + i]).flat(),
  );
  const big5 = new Set(new TextDecoder("big5").decode(new Uint8Array(bytes)));
  const { strings, traditional } = (await import(new URL("zh.js", ASSETS).href)).default;
  const texts = Object.values(strings).map(traditional);
  const left = new Set(texts.flatMap((text) => text.match(/[\u4e00-\u9fff]/g) ?? []).filter((char) => !big5.has(char)));
  assert.ok(big5.size > 13_000, String(big5.size));
  assert.deepEqual([...left], []);
  for (const [text, wanted] of [
    ["服务器只有 2 GB 内存", "伺服器只有 2 GB 記憶體"],
    ["换一只动物，重复局面，复盘", "換一隻動物，重複局面，復盤"],
  ])
    assert.equal(traditional(text), wanted);
  assert.ok(texts.every((text) => !/隻能|覆盤|鏈接|複盤|重復/.test(text)));
});

test("every text that a module names is a string", async () => {
  const names = files.filter((file) => /^strings.*\.en\.js$/.test(file));
  const parts = await Promise.all(names.map((file) => import(new URL(file, ASSETS).href)));
  const strings = Object.assign({}, ...parts.map((part) => part.default));
  const named = modules.flatMap((file) => [...read(file).matchAll(/\bt\("([^"]+)"/g)].map((found) => found[1]));
  assert.ok(named.length > 300, `${named.length} names`);
  assert.deepEqual(
    named.filter((key) => !(key in strings)),
    [],
  );
});

test("both languages have the same strings with the same places to fill", async () => {
  const names = files.flatMap((file) => file.match(/^(strings.*)\.en\.js$/)?.[1] ?? []);
  for (const name of names) {
    const [en, zh] = await Promise.all(
      ["en", "zh"].map(async (language) => (await import(new URL(`${name}.${language}.js`, ASSETS).href)).default),
    );
    const lacking = (strings, others) => Object.keys(others).filter((key) => !(key in strings));
    assert.deepEqual(lacking(zh, en), [], `${name}.zh.js lacks strings`);
    assert.deepEqual(lacking(en, zh), [], `${name}.en.js lacks strings`);
    const places = (text) => [...new Set([...text.matchAll(/\{(\w+)/g)].map((found) => found[1]))].toSorted();
    for (const key of Object.keys(en)) {
      const extra = places(zh[key]).filter((place) => !places(en[key]).includes(place));
      assert.deepEqual(extra, [], `${key}: Chinese fills a place that English does not have`);
    }
  }
});
