// The editor: place, remove, swap, mirror, side to move, FEN.

import { get } from "./api.js";
import { app, control, fen, mayLeave, on, refresh, setPosition, want } from "./app.js";
import { icon } from "./icons.js";
import { pieceIcon } from "./pieces.js";
import {
  boardOf,
  emptyBoard,
  format,
  ground,
  isWhite,
  mirror,
  name,
  parse,
  pass,
  PIECES,
  START,
  swapSides,
} from "./position.js";
import { $, announce, bar, button, errorText, field, h, pieceName, select, side, t, toast } from "./ui.js";

/** @type {string | null} */
let tool = null;

export function startEditor() {
  build();
  on("position", sync);
  on("language", () => {
    build();
    sync();
  });
  on(["pieces", "rules"], build);
  // A game or an exercise owns the board.
  on("controller", () => app.controller && app.editing && toggleEditor(false));
}

function build() {
  const tools = (/** @type {string} */ name, /** @type {string} */ label, /** @type {SVGElement} */ picture) => {
    const pressed = { "aria-pressed": String(tool === name), "data-tool": name };
    return button(picture, () => pick(name), { ...pressed, "aria-label": label, title: label });
  };
  const palette = PIECES.map((piece) =>
    tools(piece, pieceName(piece), pieceIcon(piece, app.settings.pieces, app.spelled)),
  );
  $("#editor").replaceChildren(
    h("div", { class: "palette", role: "group", "aria-label": t("editor.palette") }, palette),
    bar(
      tools("erase", t("editor.erase"), icon("erase")),
      button(t("editor.swap"), () => change(swapSides(fen())), { id: "swap" }),
      button(t("editor.mirror"), () => change(mirror(fen())), { id: "mirror" }),
      field(
        t("tomove.short"),
        select(["w", "b"], null, () => change(pass(fen())), { id: "turn" }, side),
      ),
      button(t("editor.clear"), () => change(format(emptyBoard())), { id: "clear" }),
      button(t("start"), () => setPosition(START, { from: "editor", rules: app.chosen })),
    ),
    h(
      "form",
      { class: "fenrow", onsubmit: readFen },
      h("input", { id: "fen", "aria-label": "FEN", spellcheck: "false", autocomplete: "off" }),
      h("button", { type: "submit", id: "setfen" }, t("editor.set")),
    ),
    h("p", { id: "fenerror", class: "error", role: "alert" }),
    h("p", { class: "soft" }, t("editor.help")),
  );
  sync();
}

function sync() {
  if ($("#fen")) $("#fen").value = app.broken?.fen ?? fen();
  if ($("#turn")) $("#turn").value = fen().slice(-1);
  if ($("#fenerror")) $("#fenerror").textContent = app.broken ? errorText(app.broken) : "";
}

/** @param {string} piece */
function pick(piece) {
  tool = tool === piece ? null : piece;
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-tool]")))
    element.setAttribute("aria-pressed", String(element.dataset.tool === tool));
}

/** @param {string} position */
function change(position) {
  return setPosition(position, { from: "editor" });
}

/** @param {SubmitEvent} event */
async function readFen(event) {
  event.preventDefault();
  const text = $("#fen").value.trim();
  try {
    const probe = await want((signal) => get("probe", { fen: text, rules: app.rules }, { signal }));
    await setPosition(probe.fen);
    $("#fenerror").textContent = "";
  } catch (error) {
    if (error.code !== "bad_fen" && parse(text)) await setPosition(format(boardOf(text)));
    $("#fenerror").textContent = errorText(error);
  }
}

export async function toggleEditor(open = !app.editing) {
  if (open && app.controller) {
    if (!(await mayLeave())) return;
    control(null);
    refresh();
  }
  app.editing = open;
  app.board.editing = open;
  app.board.select(null);
  $("#editor").hidden = !open;
  $("#edit").setAttribute("aria-pressed", String(open));
  announce(t(open ? "editor.on" : "editor.off"));
}

/** @type {(piece: string, square: number) => unknown} */
function place(piece, square) {
  const board = boardOf(fen());
  const { kind, owner } = ground(square);
  if (kind === "den" && owner === (isWhite(piece) ? "w" : "b")) return toast(t("editor.ownden"));
  if (kind === "water" && piece.toUpperCase() !== "R") return toast(t("editor.water"));
  const was = board.squares.indexOf(piece);
  if (was >= 0) board.squares[was] = null;
  board.squares[square] = piece;
  announce(`${pieceName(piece)} ${name(square)}`);
  return change(format(board));
}

/** @param {number} square */
function erase(square) {
  const board = boardOf(fen());
  if (!board.squares[square]) return;
  board.squares[square] = null;
  announce(t("editor.removed", { square: name(square) }));
  return change(format(board));
}

/**
 * Handles a report of the board while editing.
 * @param {string} action
 * @param {number} square
 * @param {number} [from] the square that the dragged piece stood on
 */
export function edit(action, square, from = -1) {
  const { squares } = boardOf(fen());
  if (action === "drag") return square < 0 ? erase(from) : square === from ? null : place(squares[from] ?? "", square);
  if (tool === "erase") return erase(square);
  if (tool) return squares[square] === tool ? erase(square) : place(tool, square);
  return null;
}

/**
 * Letters place a piece on the square with the focus, Delete removes it.
 * @param {KeyboardEvent} event
 * @param {number} square
 */
export function editKey(event, square) {
  if (event.key === "Delete" || event.key === "Backspace") erase(square);
  else if (PIECES.includes(event.key)) place(event.key, square);
  else return false;
  return true;
}
