// A sheet to print: the diagrams of puzzles on the first page, their solutions on the second.

import { app } from "./app.js";
import { miniature } from "./board.js";
import { solutionOf, taskOf } from "./puzzles.js";
import { readRules, spelledOut } from "./ruleset.js";
import { h, t } from "./ui.js";

/**
 * Prints puzzles. The page shows the sheet on paper only, and removes it when the paper is printed.
 * @param {Page.Puzzle[]} puzzles
 */
export function printSheet(puzzles) {
  const diagram = (/** @type {Page.Puzzle} */ puzzle) => {
    const rules = spelledOut(readRules(puzzle.rules ?? "paper"));
    return h("li", {}, taskOf(puzzle), miniature(puzzle.fen, app.settings.pieces, rules, true));
  };
  const solutions = puzzles.map((puzzle) => h("li", {}, solutionOf(puzzle)));
  const sheet = h(
    "div",
    { id: "sheet" },
    h("h1", {}, `${t("title")} · ${t("puzzle")}`),
    h("ol", { class: "diagrams" }, puzzles.map(diagram)),
    h("h2", {}, t("sheet.solutions")),
    h("ol", {}, solutions),
  );
  document.body.append(sheet);
  addEventListener("afterprint", () => sheet.remove(), { once: true });
  print();
}
