// The pointer, the wheel and the keys on the board.

import { EDGE, WIDTH } from "./scenery.js";

/** @typedef {import("./board.js").Board} Board */

/** The least pixels of a drag, and of a swipe. */
const DRAG = 5;
const SWIPE = 40;

/** Pixels of the wheel for one step, and milliseconds between two steps. */
const NOTCH = 50;
const PAUSE = 40;

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** @param {Event} event */
const cellOf = (event) => /** @type {HTMLDivElement | null} */ (/** @type {Element} */ (event.target).closest(".cell"));

/** @param {Board} board */
export function listen(board) {
  const { grid } = board;
  grid.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => press(board, event));
  grid.addEventListener("focusin", () => (board.pointed = false));
  grid.addEventListener("contextmenu", (/** @type {Event} */ event) => event.preventDefault());
  grid.addEventListener("click", (event) => {
    // The click of a screen reader or a script: no pointer event preceded it.
    const square = board.squareOf(cellOf(event));
    if (event.detail === 0 && square >= 0) board.activate(square);
  });
  grid.addEventListener("keydown", (event) => keydown(board, event));
  listenToWheel(board);
}

/** The wheel steps through the moves; the page scrolls where there is no move to step to. @param {Board} board */
function listenToWheel(board) {
  let turned = 0;
  let last = 0;
  const wheel = (/** @type {WheelEvent} */ event) => {
    if (event.ctrlKey || event.shiftKey || !board.on.canStep?.(Math.sign(event.deltaY))) return;
    event.preventDefault();
    turned += event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY : event.deltaY * NOTCH;
    if (Math.abs(turned) < NOTCH || event.timeStamp - last < PAUSE) return;
    board.on.step?.(Math.sign(turned));
    turned = 0;
    last = event.timeStamp;
  };
  board.grid.addEventListener("wheel", wheel, { passive: false });
}

/**
 * A press: with the second button it draws an arrow; on a movable piece it may become a drag, elsewhere a swipe.
 * @param {Board} board
 * @param {PointerEvent} event
 */
function press(board, event) {
  // A second finger makes it a gesture of the browser, such as a pinch.
  if (!event.isPrimary) return board.abandon();
  const square = board.squareOf(cellOf(event));
  if (square < 0) return;
  event.preventDefault();
  const secondary = event.button === 2;
  if (!secondary && event.button !== 0) return;
  board.focused = square;
  board.cellOf(square).focus({ preventScroll: true });
  board.pointed = true;
  const drag = !secondary && board.isMovable(square) ? new Drag(board, event, square) : null;
  const end = (/** @type {PointerEvent} */ e) => {
    if (e.pointerId !== event.pointerId) return;
    stop.abort();
    if (e.type === "pointercancel") return drag?.cancel();
    const target = board.squareOf(document.elementFromPoint(e.clientX, e.clientY)?.closest(".cell") ?? null);
    if (secondary) board.on.arrow(square, target);
    else if (drag?.moved) drag.drop(target);
    else if (!drag && event.pointerType === "touch" && swiped(board, event, e)) return;
    else board.activate(square);
  };
  const stop = new AbortController();
  const { signal } = stop;
  board.abandon = () => {
    if (!signal.aborted) drag?.cancel();
    stop.abort();
  };
  if (drag) window.addEventListener("pointermove", (e) => drag.move(e), { signal });
  window.addEventListener("pointerup", end, { signal });
  window.addEventListener("pointercancel", end, { signal });
}

/**
 * A sideways swipe steps through the moves: to the left is forward, as when turning a page.
 * @param {Board} board
 * @param {PointerEvent} start
 * @param {PointerEvent} end
 */
function swiped(board, start, end) {
  const [dx, dy] = [end.clientX - start.clientX, end.clientY - start.clientY];
  if (Math.abs(dx) < SWIPE || Math.abs(dx) < 1.5 * Math.abs(dy)) return false;
  const by = dx < 0 ? 1 : -1;
  if (board.on.canStep?.(by)) board.on.step?.(by);
  return true;
}

/** A piece under the pointer. */
class Drag {
  /**
   * @param {Board} board
   * @param {PointerEvent} event
   * @param {number} square
   */
  constructor(board, event, square) {
    this.board = board;
    this.start = event;
    this.square = square;
    this.art = board.artOn(square);
    this.wasSelected = square === board.selected;
    this.moved = false;
  }

  /** @param {PointerEvent} event */
  move(event) {
    const { art, board, start } = this;
    if (!art || event.pointerId !== start.pointerId) return;
    if (!this.moved && Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) < DRAG) return;
    if (!this.moved && !board.editing && !this.wasSelected) board.select(this.square);
    this.moved = true;
    const box = board.svg.getBoundingClientRect();
    const scale = WIDTH / box.width;
    const x = (event.clientX - box.left) * scale - EDGE.left - 50;
    const y = (event.clientY - box.top) * scale - EDGE.top - 50;
    art.classList.add("dragged");
    board.layers.pieces.append(art);
    art.style.transform = `translate(${x}px, ${y}px)`;
    board.forgetPlace(art);
  }

  /** @param {number} to */
  drop(to) {
    const { art, board, square } = this;
    art?.classList.remove("dragged");
    if (!board.editing && to >= 0 && to !== square) return board.move(square, to);
    if (board.editing) board.on.edit("drag", to, square);
    board.renderPieces();
    if (to === square) board.select(square);
  }

  cancel() {
    this.art?.classList.remove("dragged");
    this.board.renderPieces();
  }
}

/** @type {(board: Board, event: KeyboardEvent) => void} */
function keydown(board, event) {
  const cell = cellOf(event);
  const at = cell ? board.cells.indexOf(cell) : -1;
  if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
  // After a click, these keys step through the moves and play the best one.
  if (board.pointed && ["ArrowLeft", "ArrowRight", " "].includes(event.key)) return;
  board.pointed = false;
  const square = board.squareOf(cell);
  const to = destination(event.key, at % 7, Math.floor(at / 7));
  if (to) {
    const [x, y] = to;
    if (x >= 0 && x < 7 && y >= 0 && y < 9) board.focus(board.squareOf(board.cells[y * 7 + x]));
  } else if (event.key === "Enter" || event.key === " ") board.activate(square);
  else if (event.key === "Escape" && board.selected !== null) board.select(null);
  else if (!board.on.key(event, square)) return;
  event.preventDefault();
  event.stopPropagation();
}

/**
 * The column and row that a key moves the focus to, or null.
 * @param {string} key
 * @param {number} x
 * @param {number} y
 */
function destination(key, x, y) {
  if (key in ARROWS) {
    const [dx, dy] = ARROWS[/** @type {keyof typeof ARROWS} */ (key)];
    return [x + dx, y + dy];
  }
  return { Home: [0, y], End: [6, y], PageUp: [x, 0], PageDown: [x, 8] }[key] ?? null;
}
