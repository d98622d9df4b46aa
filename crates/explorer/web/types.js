// Runs the type checker. Errors in the modules of checked.json fail; the other modules are still to be typed.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

const checked = new Set(JSON.parse(readFileSync(new URL("checked.json", import.meta.url), "utf8")));
const { stdout, error } = spawnSync("tsc", ["--pretty", "false"], { encoding: "utf8" });
if (error) throw error;
const fileOf = (line) => /^[^(]*?([\w.-]+)\(\d+,\d+\): error/.exec(line)?.[1];
const errors = stdout.split("\n").filter((line) => checked.has(fileOf(line)));
if (errors.length) console.error(errors.join("\n"));
process.exitCode = errors.length ? 1 : 0;
