// The result of the position, and every move with its value.

import { addBestLine, app, emit, fen, infoOf, isExact, isFinished } from "./app.js";
import { on, play, rules, sentence, setPosition, status } from "./app.js";
import { isCompetition } from "./competition.js";
import { pass, START } from "./position.js";
import {
  $,
  bar,
  button,
  chip,
  described,
  errorText,
  h,
  inWords,
  moveText,
  refill,
  result,
  row,
  said,
  scrolled,
  section,
  side,
  spokenName,
  t,
  table,
  teams,
  valueSymbol,
} from "./ui.js";
import { moveTree, showCurrent } from "./moves-tree.js";
import { reasonsOf } from "./reasons.js";
import { openingCosts } from "./opening-scores.js";
import { scoreText } from "./score.js";
import { draw as drawSolve } from "./solve.js";

export const key = "position";

export function build() {
  const note = h("input", { id: "note", maxlength: 300, oninput: writeNote });
  return [
    h(
      "div",
      { class: "pair" },
      section("moveshead", t("moves"), h("div", { id: "solve" }), h("div", { id: "moves" })),
      section(
        "linetreehead",
        t("variations"),
        bar(button(t("line.add"), async () => addBestLine(), { id: "bestline", class: "main" })),
        h("div", { id: "tree", class: "moves-tree scroll" }),
        h("label", { class: "note" }, t("note.move"), " ", note),
        h("p", { class: "soft" }, t("variations.help")),
      ),
    ),
    section(
      "elsehead",
      t("elsewhere"),
      bar(
        button(t("otherside"), () => setPosition(pass(fen()))),
        button(t("start"), () => setPosition(START, { rules: app.chosen })),
      ),
    ),
  ];
}

/**
 * Writes a note on the shown move, which links, files and the history keep.
 * @param {Event & { target: HTMLInputElement }} event
 */
function writeNote({ target }) {
  app.game.cursor.annotate(target.value, app.game.cursor.arrows);
  emit("tree");
}

export function update() {
  drawSolve();
  const note = $("#note");
  note.disabled = app.controller !== null;
  if (note !== document.activeElement) note.value = app.game.cursor.note;
  renderMoves();
  refill($("#tree"), [moveTree()]);
  showCurrent($("#tree"));
}

function renderMoves() {
  const host = $("#moves");
  const { probe, problem } = app;
  $("#bestline").disabled = !probe || Boolean(probe.over) || app.controller !== null;
  if (problem) refill(host, [h("p", { class: "error", role: "alert" }, errorText(problem))]);
  else if (probe) refill(host, [movesOf(probe)].flat());
}

/** @param {Page.Probe} probe */
function movesOf(probe) {
  if (probe.over) return h("p", { class: "soft" }, sentence(probe));
  if (!probe.moves?.length) return h("p", { class: "soft" }, t("moves.none"));
  // During a game or an exercise the scores would be a hint.
  const isOpen = !probe.known && !app.controller;
  const costs = isOpen ? openingCosts(fen(), app.spelled, () => $("#moves") && renderMoves()) : null;
  if (costs === undefined) return h("p", { class: "soft working" }, t("working"));
  const behind = (/** @type {Page.Move} */ { uci }) => costs?.get(uci) ?? 0;
  const moves = costs ? probe.moves.toSorted((a, b) => behind(a) - behind(b)) : probe.moves;
  // Without a table there is no column of values that are all unknown.
  const heads = [t("move"), ...(probe.known ? [t("value")] : []), t("remark")];
  const { known, keeps_result: keeps } = probe;
  return [
    h("p", { class: "soft" }, t(known ? "moves.keep" : "moves.legal", { keeps, n: moves.length })),
    costs && h("p", { id: "opening" }, openingText(costs)),
    scrolled(
      "moveshead",
      table(
        t(known ? "moves.caption" : "moves", { side: side(probe.turn) }),
        heads,
        moves.map((move) => moveRow(move, known, costs && openingCost(behind(move)))),
      ),
    ),
  ];
}

/** @param {Map<string, number>} costs */
const openingText = (costs) =>
  t(fen() === START ? "opening.first" : "opening.spread", { n: Math.max(...costs.values()) });

/** @param {number} cost */
const openingCost = (cost) => t(cost ? "opening.behind" : "opening.best", { n: cost });

/** @type {(move: Page.Move, known: boolean, score: string | null) => HTMLElement} */
function moveRow(move, known, score) {
  const notes = [score, ...reasonsOf(fen(), move, rules())];
  const point = (/** @type {string | null} */ uci) => () => (uci ? app.board.point(uci) : emit("unpoint"));
  const label = described([move.san, known && inWords(move.value)]);
  const head = button(moveText(move.san), () => play(move.uci), {
    class: "plain",
    onfocus: point(move.uci),
    onblur: point(null),
    "aria-label": spokenName(moveText(move.san), label),
  });
  return row([head, ...(known ? [chip(move.value)] : []), h("td", { class: "soft" }, described(notes))], {
    "data-uci": move.uci,
    "data-value": valueSymbol(move.value),
    onmouseenter: point(move.uci),
    onmouseleave: point(null),
  });
}

/** The result above the tabs, which is busy until the answer for the position arrives. */
export function startResult() {
  on("position", () => $("#result").setAttribute("aria-busy", "true"));
  on(["probe", "language", "evaluation", "match", "lesson", "tab"], render);
  on(["evaluation", "unpoint"], pointAtBest);
}

/** If no table contains the position with its distance, an arrow shows the engine's best move. */
function pointAtBest() {
  const best = app.controller || isExact() || isFinished() ? null : app.evaluation.last?.pv?.[0]?.uci;
  app.board.point(app.settings.values && !app.editing ? (best ?? null) : null);
}

/** The engine's best line with its score, as a part of the text below the headline. @param {Page.Probe} probe */
function bestLine(probe) {
  const { last } = app.evaluation;
  if (!last?.pv?.length || app.controller || isExact() || probe.over || isFinished()) return [];
  const moves = last.pv
    .slice(0, 6)
    .map((move) => move.san)
    .join(" ");
  const score = scoreText(last.score, probe.fen.slice(-1));
  return [h("span", { id: "bestpv" }, said(t("eval.line", { score, moves, depth: last.depth })))];
}

/** The badge of a zugzwang. Small screens leave out the explanation. */
const zugzwang = () =>
  h(
    "span",
    { class: "badge-note", id: "zugzwang", title: t("zugzwang.why") },
    t("zugzwang"),
    h("span", {}, t("zugzwang.why")),
  );

/**
 * Below the headline: the side to move, unless it is said elsewhere or the game is over, and the material. The first
 * view shows the aim of the game.
 * @param {Page.Probe} probe
 * @param {string} headline
 */
function facts(probe, headline) {
  if (app.tab === "home" && !app.controller) return t("home.what");
  const turn = t("tomove", { side: side(probe.turn) });
  const isSaid = app.controller || probe.over || isFinished();
  return [isSaid || headline === turn ? "" : turn, probe.pieces <= 6 ? teams(probe.material ?? "") : ""]
    .filter(Boolean)
    .join(" · ");
}

function render() {
  const { probe, problem } = app;
  const [head, sub] = [$("#result"), $("#subresult")];
  if (probe || problem) head.removeAttribute("aria-busy");
  if (problem) {
    head.replaceChildren(h("span", { id: "resulttext" }, t(app.broken ? "result.broken" : "result.problem")));
    sub.replaceChildren(errorText(problem));
    return cost();
  }
  if (!probe) return;
  const decided = probe.known && !probe.over;
  const headline = app.tab === "home" && !app.controller ? t("home.head") : sentence(probe);
  if ($("#resulttext")?.textContent !== headline) head.replaceChildren(h("span", { id: "resulttext" }, headline));
  const known = facts(probe, headline);
  /** @type {Node[]} */
  const parts = known ? [h("span", {}, known, decided && probe.zugzwang ? [" ", zugzwang()] : "")] : [];
  if (decided && probe.other_side) {
    const other = probe.turn === "white" ? "b" : "w";
    const text = t("ifother", { side: side(other), result: result(probe.other_side, other) });
    parts.push(h("span", { id: "otherside" }, text));
  }
  const { limit, clock } = status();
  const isLate = limit !== null && clock > 0 && (probe.value?.dtw ?? 0) > limit - clock;
  if (decided && limit !== null && (isLate || probe.value?.category))
    parts.push(h("span", { id: "tolimit" }, t("result.limit", { n: limit - clock })));
  if (decided && isCompetition(rules())) parts.push(h("span", { id: "competition" }, t("result.competition")));
  parts.push(...bestLine(probe));
  sub.replaceChildren(...parts.flatMap((part, i) => (i ? [" · ", part] : [part])));
  cost();
}

/** @typedef {Pick<Api.Value, "wdl" | "dtw">} Result */

const rank = { win: 2, draw: 1, loss: 0 };

/**
 * The cost of the last move, from the value before it and the value of the move: plies, or a change such as "win.draw".
 * @param {Result | null | undefined} before
 * @param {Result | null} after
 */
export function costOf(before, after) {
  if (!before || !after) return null;
  const isWorse = rank[after.wdl] < rank[before.wdl];
  if (before.wdl !== after.wdl) return isWorse ? { change: `${before.wdl}.${after.wdl}`, plies: 1 } : null;
  if (before.wdl === "draw") return { plies: 0 };
  if (before.dtw === null || after.dtw === null) return null;
  return { plies: before.wdl === "win" ? after.dtw - before.dtw : before.dtw - after.dtw };
}

const REVERSED = /** @type {const} */ ({ win: "loss", loss: "win", draw: "draw" });

/**
 * The value of the move that led to a position, for the side that made it; null if the tables do not know it.
 * @param {Page.Probe} probe
 * @returns {Result | null}
 */
function valueOfMove({ over, value, turn }) {
  if (over?.winner) return { wdl: over.winner === turn ? "loss" : "win", dtw: 1 };
  if (over) return { wdl: "draw", dtw: null };
  return value && { wdl: REVERSED[value.wdl], dtw: value.dtw === null ? null : value.dtw + 1 };
}

function cost() {
  const box = $("#cost");
  const { cursor } = app.game;
  const lost = app.probe && !app.controller && costOf(infoOf(cursor.parent)?.value, valueOfMove(app.probe));
  box.hidden = !lost || lost.plies < 0;
  if (!lost) return;
  box.classList.toggle("good", lost.plies === 0);
  const change = lost.change ?? (lost.plies ? "plies" : "best");
  box.replaceChildren(...said(t(`cost.${change}`, { move: cursor.san, n: lost.plies })));
}
