import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: ["web/node_modules/"] },
  js.configs.recommended,
  {
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      eqeqeq: "error",
      "max-len": ["error", { code: 120, ignoreUrls: true }],
      "no-implicit-globals": "error",
      "no-unused-vars": ["error", { args: "after-used", argsIgnorePattern: "^_" }],
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": ["error", { destructuring: "all" }],
    },
  },
  { files: ["src/assets/*.js"], languageOptions: { globals: globals.browser } },
  { files: ["src/site/*.js"], languageOptions: { globals: { ...globals.worker, ...globals.serviceworker } } },
  { files: ["web/**/*.js"], languageOptions: { globals: globals.node } },
];
