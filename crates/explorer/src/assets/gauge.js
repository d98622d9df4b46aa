// The evaluation bar beside the board: White's share, from the tables if they know the position, else from the engine.

import { app, on, turn } from "./app.js";
import { scoreText, whiteShare } from "./score.js";
import { $, result, t } from "./ui.js";

/** @type {Record<string, number>} */
const SIGNS = { win: 1, draw: 0, loss: -1 };
/** @type {Record<string, number>} */
const SHARES = { white: 1, black: 0 };

export function startGauge() {
  on(["probe", "position", "evaluation", "controller", "language"], draw);
}

/** White's share from 0 to 1, null if unknown, and the same in words. @returns {[number | null, string]} */
function reading() {
  const { probe, evaluation } = app;
  if (app.controller || !probe) return [null, t("gauge.unknown")];
  if (probe.over) return [SHARES[probe.over.winner ?? ""] ?? 0.5, t("match.over")];
  if (probe.known && probe.value) {
    const sign = SIGNS[probe.value.wdl] * (turn() === "w" ? 1 : -1);
    return [0.5 + 0.5 * sign, result(probe.value, turn())];
  }
  if (!evaluation.last) return [null, t("gauge.unknown")];
  const { score } = evaluation.last;
  return [whiteShare(score, turn()), t("gauge.engine", { score: scoreText(score, turn()) })];
}

function draw() {
  const gauge = $("#gauge");
  const [share, text] = reading();
  gauge.classList.toggle("off", share === null);
  gauge.setAttribute("aria-label", text);
  gauge.title = text;
  $(".white", gauge).style.flexGrow = String(share ?? 0.5);
  $(".black", gauge).style.flexGrow = String(1 - (share ?? 0.5));
}
