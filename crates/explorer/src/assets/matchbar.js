// A game: the players above and below the board with clocks and captured pieces; counters and the actions of a player.

import { app, on } from "./app.js";
import { clockText } from "./clock.js";
import { moveTree, showCurrent } from "./moves-tree.js";
import { pieceIcon } from "./pieces.js";
import { captured, fullMoves } from "./status.js";
import { $, announce, button, described, h, levelName, listed, pieceName, refill, said, side, t } from "./ui.js";

/** @type {Match} The game on the board, if there is one. */
let match;
let resigning = false;

export function startMatchBar() {
  on("match", (now) => {
    if (now) match = now;
    resigning = false;
    draw();
  });
  on("tick", drawClocks);
  on(["position", "language", "pieces", "tab", "flip"], draw);
}

/**
 * The pieces of a colour that have been captured, as pictures with a name.
 * @param {"white" | "black"} color
 * @param {string[]} pieces
 */
function capturedRow(color, pieces) {
  const text = pieces.length ? listed(pieces.map(pieceName)) : t("match.captured.none");
  const label = t("match.captured", { side: t(color), pieces: text });
  return h(
    "span",
    { class: "captured", role: "img", "aria-label": label },
    pieces.map((piece) => pieceIcon(piece, app.settings.pieces, app.spelled)),
  );
}

/**
 * A player beside the board: disc, name, state of the turn, captured pieces, clock.
 * @param {string} place the identifier of the element
 * @param {string} turn
 */
function drawSeat(place, turn) {
  const host = $(`#${place}`);
  const { you, level, trainer } = match.setup;
  const isEngine = you !== "both" && you !== turn;
  const who =
    you === "both" ? side(turn) : !isEngine ? t("match.you") : trainer ? t("trainer.defender") : levelName(level);
  const disc = isEngine ? level : "L";
  const isRunning = !match.result && match.turn() === turn;
  const other = turn === "w" ? "black" : "white";
  host.classList.toggle("running", isRunning);
  host.setAttribute("aria-label", described([who, you === "both" ? "" : side(turn)]));
  host.replaceChildren(
    pieceIcon(turn === "w" ? disc : disc.toLowerCase(), app.settings.pieces, app.spelled),
    h("span", { class: "who" }, who),
    h("span", { class: "turn" }, isRunning ? match.headline() : ""),
    capturedRow(other, captured(app.game.root.fen, app.game.cursor.fen)[other]),
    match.clock ? clockFace(turn, match.clock) : "",
  );
}

/** @type {(turn: string, clock: NonNullable<Match["clock"]>) => HTMLElement} */
const clockFace = (turn, clock) =>
  h(
    "span",
    { class: "clock", "data-clock": turn, role: "timer", "aria-label": t("match.clock", { side: side(turn) }) },
    clockText(clock.read(turn)),
  );

/** The counts toward a draw by repetition or without captures, once they matter. */
function counters() {
  const { occurrences, repetitionLimit: of, clock, limit } = match.status;
  const parts = [
    of && occurrences > 1 && h("span", { id: "repetitions" }, t("match.repetition", { n: occurrences, of })),
    limit &&
      clock >= limit / 2 &&
      h("span", { id: "nocapture" }, t("match.nocapture", { n: fullMoves(clock), of: fullMoves(limit) })),
  ];
  return parts.some(Boolean) ? h("p", { class: "counters" }, parts) : "";
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

/** The mode of the page; style sheets hide elements that the mode does not need. @param {boolean} isMatch */
function mode(isMatch) {
  if (isMatch) return "match";
  if (app.controller) return "exercise";
  return app.tab === "home" ? "home" : "";
}

function draw() {
  const bar = $("#matchbar");
  const isOn = app.controller !== null && app.controller === match;
  bar.hidden = !isOn;
  document.documentElement.dataset.mode = mode(isOn);
  app.board.locked = isOn && !match.isOpen();
  for (const place of ["far", "near"]) $(`#${place}`).hidden = !isOn;
  if (!isOn) return bar.replaceChildren();
  drawSeat("far", app.board.flipped ? "w" : "b");
  drawSeat("near", app.board.flipped ? "b" : "w");
  const name = { id: "matchmoves", class: "moves-tree scroll", role: "group", "aria-label": t("moves") };
  const moves = h("div", name, app.game.root.children.length ? moveTree() : "");
  refill(bar, [
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
