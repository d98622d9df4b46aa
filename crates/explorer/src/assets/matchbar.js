// Below the board during a game: clocks, captured pieces, counters and the actions of a player.

import { app, on } from "./app.js";
import { clockText } from "./clock.js";
import { moveTree, showCurrent } from "./moves-tree.js";
import { pieceIcon } from "./pieces.js";
import { captured } from "./status.js";
import { $, announce, button, h, listed, pieceName, refill, said, side, t } from "./ui.js";

/** @type {any} */
let match = null;
let resigning = false;

export function startMatchBar() {
  on("match", (/** @type {any} */ now) => {
    match = now;
    resigning = false;
    draw();
  });
  on("position", draw);
  on("tick", drawClocks);
  for (const event of ["language", "pieces", "tab"]) on(event, draw);
}

/**
 * The pieces of a colour that have been captured, as pictures with a name.
 * @param {"white" | "black"} color
 * @param {any} pieces
 */
export function capturedRow(color, pieces) {
  const text = pieces.length ? listed(pieces.map(pieceName)) : t("match.captured.none");
  const label = t("match.captured", { side: t(color), pieces: text });
  return h(
    "span",
    { class: "captured", role: "img", "aria-label": label },
    pieces.map((/** @type {string} */ piece) => pieceIcon(piece, app.settings.pieces, app.spelled)),
  );
}

/** @type {(turn: string, lost: any) => HTMLElement} */
function row(turn, lost) {
  const color = turn === "w" ? "white" : "black";
  const running = !match.result && match.turn() === turn;
  const { you, level, trainer } = match.setup;
  const engine = trainer ? "trainer.defender" : `level.${level}`;
  const who = you === "both" ? "" : t(you === turn ? "match.you" : engine);
  return h(
    "div",
    { class: `player ${color}${running ? " running" : ""}` },
    h("span", { class: "who" }, side(turn), who ? ` · ${who}` : ""),
    capturedRow(turn === "w" ? "black" : "white", lost[turn === "w" ? "black" : "white"]),
    match.clock ? clockFace(turn) : "",
  );
}

/** @param {string} turn */
const clockFace = (turn) =>
  h(
    "span",
    {
      class: "clock",
      "data-clock": turn,
      role: "timer",
      "aria-label": t("match.clock", { side: side(turn) }),
    },
    clockText(match.clock.read(turn)),
  );

/** The counts toward a draw by repetition or without captures. */
function counters() {
  const { status } = match;
  const parts = [];
  if (status.repetitionLimit) {
    const near = status.occurrences > 1;
    parts.push(
      h(
        "span",
        { id: "repetitions", class: near ? "near" : null },
        t("match.repetition", { n: status.occurrences, of: status.repetitionLimit }),
      ),
    );
  }
  if (status.limit) {
    const near = status.clock >= status.limit / 2;
    const text = t("match.nocapture", { n: status.clock, of: status.limit });
    parts.push(h("span", { id: "nocapture", class: near ? "near" : null }, text));
  }
  return h("p", { class: "counters soft" }, parts);
}

function resign() {
  if (resigning) return match.resign();
  resigning = true;
  announce(t("match.resign.really"));
  draw();
}

function actions() {
  if (match.offer) {
    return [
      h("span", {}, t("match.draw.offered", { side: side(match.offer) })),
      button(t("match.draw.accept"), () => match.answerDraw(true), { id: "acceptdraw", class: "main" }),
      button(t("match.draw.decline"), () => match.answerDraw(false), { id: "declinedraw" }),
    ];
  }
  return [
    button(t("match.takeback"), () => match.takeback(), { id: "takeback", disabled: !match.lastTurn() }),
    button(t("match.hint.do"), () => match.hint(), { id: "hint", disabled: !match.isOpen() }),
    button(t("match.draw.offer"), () => match.offerDraw(), { id: "offerdraw" }),
    button(t(resigning ? "match.resign.really" : "match.resign"), resign, { id: "resign" }),
    match.problem ? button(t("solve.again"), () => match.reply(), { id: "askagain", class: "main" }) : "",
    app.game.cursor === match.node ? "" : button(t("match.back"), () => back(), { id: "toend", class: "main" }),
  ];
}

const back = () => $("#player-last").click();

/**
 * The mode of the page; style sheets hide elements that the mode does not need.
 * @param {any} isMatch
 */
function mode(isMatch) {
  if (isMatch) return "match";
  if (app.controller) return "exercise";
  return app.tab === "home" ? "home" : "";
}

function draw() {
  const bar = $("#matchbar");
  const isOn = match !== null && app.controller === match;
  bar.hidden = !isOn;
  document.documentElement.dataset.mode = mode(isOn);
  app.board.locked = isOn && !match.isOpen();
  if (!isOn) return bar.replaceChildren();
  const lost = captured(app.game.root.fen, app.game.cursor.fen);
  const [far, near] = app.board.flipped ? ["w", "b"] : ["b", "w"];
  const name = { id: "matchmoves", class: "moves-tree scroll", role: "group", "aria-label": t("moves") };
  const moves = h("div", name, app.game.root.children.length ? moveTree() : "");
  refill(bar, [
    row(far, lost),
    row(near, lost),
    counters(),
    h("p", { id: "matchmessage", class: "soft" }, match.message && said(match.message)),
    h("div", { class: "bar actions" }, actions()),
    moves,
  ]);
  showCurrent(moves);
}

function drawClocks() {
  if (!match?.clock) return;
  for (const cell of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-clock]"))) {
    const text = clockText(match.clock.read(cell.dataset.clock ?? ""));
    if (cell.textContent !== text) cell.textContent = text;
  }
}
