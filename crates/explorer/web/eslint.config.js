import js from "@eslint/js";
import globals from "globals";
import { readFileSync } from "node:fs";

const checked = JSON.parse(readFileSync(new URL("checked.json", import.meta.url), "utf8"));
const length = { "max-len": ["error", { code: 120, ignoreUrls: true }] };

export default [
  { ignores: ["web/node_modules/"] },
  js.configs.recommended,
  {
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      eqeqeq: "error",
      "no-implicit-globals": "error",
      "no-unused-vars": ["error", { args: "after-used", argsIgnorePattern: "^_" }],
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": ["error", { destructuring: "all" }],
    },
  },
  { files: ["src/assets/*.js"], languageOptions: { globals: globals.browser } },
  { files: ["web/**/*.js"], languageOptions: { globals: globals.node }, rules: length },
  { files: checked.map((file) => `src/assets/${file}`), rules: length },
];
