// The board: a picture in SVG, and over it an invisible grid of 63 cells. The grid takes the pointer, the keys and the
// focus, and describes the picture to screen readers.

import { toSvg } from "./board-export.js";
import { listen } from "./board-input.js";
import { fade, isLeap, leap, shake, stands, stillness } from "./motion.js";
import { pieceArt } from "./pieces.js";
import { boardOf, emptyBoard, ground, index, isWhite, name, parse } from "./position.js";
import { buildings, coordinates, EDGE, frame, HEIGHT, landscape, paints, WIDTH } from "./scenery.js";
import { described, h, inWords, pieceName, s, t, valueSymbol } from "./ui.js";

/** @typedef {[number, number]} Place A column and a row of the picture, from the top left. */

/**
 * The callbacks of the board. `play` takes a legal move, `refuse` one that is not; `edit` takes "click" or "drag", the
 * square and, for a drag, its first square; `key` returns whether it used the key; `step` goes through the moves.
 * @typedef {{
 *   play: (uci: string) => unknown,
 *   refuse: (uci: string) => unknown,
 *   edit: (action: string, square: number, from?: number) => unknown,
 *   arrow: (from: number, to: number) => unknown,
 *   key: (event: KeyboardEvent, square: number) => unknown,
 *   canStep?: (by: number) => boolean,
 *   step?: (by: number) => unknown,
 * }} Reports
 */

/**
 * The content shown instead of the moves' values: a value for each square, a drawing, words for a square.
 * @typedef {{
 *   values?: Map<number, { value: Api.Value | null, reason?: string | null }>,
 *   square?: number,
 *   draw?: (board: Board) => void,
 *   say?: (square: number) => string[],
 * }} Overlay
 */

/** The place of the field within the frame. */
const INSET = `translate(${EDGE.left} ${EDGE.top})`;

const LAYERS = ["ground", "tint", "marks", "pieces", "arrows", "values"];

/** The strength of a square's colour: the nearer the end of the game, the stronger. @param {Api.Value} value */
const strengthOf = ({ dtw }) => (dtw === null ? 0.75 : 0.4 + 0.5 * Math.exp(-dtw / 9)).toFixed(2);

const arrowHead = () =>
  s(
    "marker",
    {
      id: "head",
      viewBox: "0 0 10 10",
      refX: 6,
      refY: 5,
      markerWidth: 3.2,
      markerHeight: 3.2,
      orient: "auto-start-reverse",
    },
    s("path", { d: "M0 0 L10 5 L0 10 z", fill: "context-stroke" }),
  );

/**
 * A small picture of a position: for buttons or, with the whole frame, for paper.
 * @param {string} fen
 * @param {string} style
 * @param {string} rules with every option
 */
export function miniature(fen, style, rules, isWhole = false) {
  const at = (/** @type {number} */ square, /** @type {SVGElement} */ art) =>
    s("g", { transform: `translate(${(square % 7) * 100} ${(8 - Math.floor(square / 7)) * 100})` }, art);
  const pieces = boardOf(fen).squares.flatMap((piece, square) =>
    piece ? [at(square, pieceArt(piece, style, rules))] : [],
  );
  const viewBox = isWhole ? `0 0 ${WIDTH} ${HEIGHT}` : `${EDGE.left - 6} ${EDGE.top - 6} 712 912`;
  const attributes = { class: "miniature", "aria-hidden": "true", viewBox };
  const field = s("g", { transform: INSET }, landscape(), buildings(at), pieces);
  return s("svg", attributes, frame(), s("g", { class: "coordinates" }, coordinates(false)), field);
}

export class Board {
  flipped = false;
  style = "animals";
  /** The rules with every option, which decide the ranks on the pieces. */
  rules = "";
  board = emptyBoard();
  /** @type {Page.Move[]} Legal moves, best first. */
  moves = [];
  /** @type {number | null} */
  selected = null;
  showValues = true;
  /** @type {Overlay | null} */
  overlay = null;
  /** @type {string | null} The last move. */
  last = null;
  /** @type {string | null} A move that is pointed at. */
  hint = null;
  /** @type {number | null} The square that a lesson is about. */
  goal = null;
  /** @type {[number, number][]} */
  arrows = [];
  editing = false;
  /** Whether it is not the user's turn. */
  locked = false;
  focused = 24;
  /** Whether the pointer, not the keyboard, set the focus. */
  pointed = false;
  /** @type {Map<string, SVGElement>} Pictures of pieces by letter, with a number if the letter repeats. */
  drawn = new Map();
  /** @type {WeakMap<SVGElement, Place>} Where each picture stands. */
  places = new WeakMap();
  /** @type {() => void} Ends the gesture of the pointer without an effect. */
  abandon = () => {};
  /** @type {Map<number, Api.Value>} The values that are shown, for the cells' labels. */
  marked = new Map();

  /**
   * @param {HTMLElement} host
   * @param {Reports} on
   */
  constructor(host, on) {
    this.on = on;
    this.host = host;
    this.layers = Object.fromEntries(LAYERS.map((layer) => [layer, s("g", { class: layer })]));
    const viewBox = `0 0 ${WIDTH} ${HEIGHT}`;
    this.svg = s("svg", { class: "picture", viewBox, "aria-hidden": "true", focusable: "false" });
    this.coordinates = s("g", { class: "coordinates" });
    const field = s("g", { transform: INSET }, Object.values(this.layers));
    this.svg.append(s("defs", {}, arrowHead(), paints()), ...frame(), this.coordinates, field);
    this.cells = Array.from({ length: 63 }, () => h("div", { role: "gridcell", tabindex: "-1", class: "cell" }));
    const rows = Array.from({ length: 9 }, (_, row) =>
      h("div", { role: "row" }, this.cells.slice(row * 7, row * 7 + 7)),
    );
    this.grid = h("div", { class: "grid", role: "grid", "aria-readonly": "true" }, rows);
    host.append(this.svg, this.grid);
    listen(this);
    this.drawGround();
  }

  // Squares and cells.

  /**
   * @param {number} square
   * @returns {Place}
   */
  place(square) {
    const [file, rank] = [square % 7, Math.floor(square / 7)];
    return this.flipped ? [6 - file, rank] : [file, 8 - rank];
  }

  /** @param {number} square */
  cellOf(square) {
    const [x, y] = this.place(square);
    return this.cells[y * 7 + x];
  }

  /** @param {Element | null} cell */
  squareOf(cell) {
    const i = this.cells.indexOf(/** @type {HTMLDivElement} */ (cell));
    if (i < 0) return -1;
    const [x, y] = [i % 7, Math.floor(i / 7)];
    return this.flipped ? y * 7 + 6 - x : (8 - y) * 7 + x;
  }

  /**
   * A group at a square.
   * @param {number} square
   * @param {...SVGElement} children
   */
  at(square, ...children) {
    const [x, y] = this.place(square);
    return s("g", { transform: `translate(${x * 100} ${y * 100})` }, children);
  }

  // Display.

  drawGround() {
    this.layers.ground.replaceChildren(...landscape(), ...buildings((square, art) => this.at(square, art)));
    this.coordinates.replaceChildren(...coordinates(this.flipped));
  }

  /** @param {boolean} flipped */
  flip(flipped) {
    this.flipped = flipped;
    // The evaluation bar beside the board turns with it.
    this.host.toggleAttribute("data-flipped", flipped);
    this.drawGround();
    this.redraw();
  }

  /** @param {string} style */
  setStyle(style) {
    this.style = style;
    this.redraw();
  }

  /** @param {string} rules */
  setRules(rules) {
    this.rules = rules;
    this.redraw();
  }

  redraw() {
    this.layers.pieces.replaceChildren();
    this.drawn.clear();
    this.render();
  }

  /**
   * Shows a position, and the move that led to it.
   * @param {string} fen
   * @param {string | null} last
   */
  show(fen, last) {
    this.board = parse(fen) ?? this.board;
    this.last = last;
    this.moves = [];
    // An overlay is about one position.
    this.overlay &&= {};
    this.selected = null;
    this.hint = null;
    this.render();
  }

  /** @param {Page.Move[]} moves */
  setMoves(moves) {
    this.moves = moves;
    this.render();
  }

  /** The best move to each target square: of the selected piece, or of any. Moves come best first. */
  targets() {
    /** @type {Map<number, Page.Move>} */
    const targets = new Map();
    for (const move of this.moves) {
      if (this.selected !== null && index(move.from) !== this.selected) continue;
      const to = index(move.to);
      if (!targets.has(to)) targets.set(to, move);
    }
    return targets;
  }

  render() {
    this.renderPieces();
    this.renderMarks();
    this.renderLabels();
  }

  renderPieces() {
    /** @type {Set<string>} */
    const seen = new Set();
    this.board.squares.forEach((piece, square) => {
      if (!piece) return;
      let key = piece;
      for (let n = 2; seen.has(key); n++) key = `${piece}${n}`;
      seen.add(key);
      this.put(this.drawn.get(key) ?? this.draw(key, piece), square);
    });
    for (const [key, art] of this.drawn) {
      if (seen.has(key)) continue;
      this.drawn.delete(key);
      if (art.dataset.square === this.last?.slice(2, 4)) fade(art);
      else art.remove();
    }
  }

  /**
   * @param {string} key
   * @param {string} piece
   */
  draw(key, piece) {
    const art = s("g", { class: "mover", "data-piece": piece }, pieceArt(piece, this.style, this.rules));
    this.drawn.set(key, art);
    this.layers.pieces.append(art);
    return art;
  }

  /**
   * Moves the picture of a piece to a square: with a leap if the last move was one, else as its style says.
   * @param {SVGElement} art
   * @param {number} square
   */
  put(art, square) {
    const before = this.places.get(art);
    const place = this.place(square);
    if (before && this.last?.endsWith(name(square)) && isLeap(before, place) && !stillness()) {
      this.layers.pieces.append(art);
      leap(art, before, place);
    }
    this.places.set(art, place);
    art.style.transform = stands(...place);
    art.setAttribute("data-square", name(square));
  }

  /** @param {number} square */
  artOn(square) {
    const art = /** @type {SVGElement[]} */ ([...this.layers.pieces.querySelectorAll(".mover")]);
    return art.find((piece) => piece.dataset.square === name(square)) ?? null;
  }

  /** Suppresses the leap of a dragged picture: it is where the pointer left it. @param {SVGElement} art */
  forgetPlace(art) {
    this.places.delete(art);
  }

  renderMarks() {
    const { marks, tint, values, arrows } = this.layers;
    for (const layer of [marks, tint, values, arrows]) layer.replaceChildren();
    const box = (/** @type {string} */ className, /** @type {number} */ inset, rx = 8) =>
      s("rect", { class: className, x: inset, y: inset, width: 100 - 2 * inset, height: 100 - 2 * inset, rx });
    for (const square of this.last ? [index(this.last.slice(0, 2)), index(this.last.slice(2, 4))] : []) {
      marks.append(this.at(square, box("last", 2)));
    }
    if (this.goal !== null) this.tintSquare(this.goal, "goal");
    if (this.selected !== null) marks.append(this.at(this.selected, box("selected", 3)));
    this.marked = new Map();
    if (this.overlay?.values) this.renderWhatIf(this.overlay.values);
    else if (!this.editing && (!this.overlay || this.selected !== null)) this.renderTargets();
    this.overlay?.draw?.(this);
    for (const [from, to] of this.arrows) this.arrow(from, to, "user");
    if (this.hint) this.arrow(index(this.hint.slice(0, 2)), index(this.hint.slice(2, 4)), "hint");
  }

  renderTargets() {
    for (const [to, move] of this.targets()) {
      const taken = this.board.squares[to] !== null;
      if (this.selected !== null) {
        const circle = taken ? { class: "take", cx: 50, cy: 50, r: 46 } : { class: "target", cx: 50, cy: 50, r: 11 };
        this.layers.marks.append(this.at(to, s("circle", circle)));
      }
      if (move.value) this.marked.set(to, move.value);
      if (this.showValues && move.value) this.pill(to, move.value, taken || this.selected !== null ? 82 : 50);
    }
  }

  /** @param {NonNullable<Overlay["values"]>} values */
  renderWhatIf(values) {
    const box = { x: 2, y: 2, width: 96, height: 96, rx: 8 };
    for (const [square, { value, reason }] of values) {
      if (value) {
        this.marked.set(square, value);
        const tint = { class: `tint ${value.wdl}`, "fill-opacity": strengthOf(value), ...box };
        this.layers.tint.append(this.at(square, s("rect", tint), s("rect", { class: `texture ${value.wdl}`, ...box })));
        this.pill(square, value, square === this.overlay?.square ? 82 : 50);
      } else if (reason && reason !== "same" && reason !== "occupied") {
        this.layers.tint.append(this.at(square, s("path", { class: "barred", d: "M34 34 L66 66 M66 34 L34 66" })));
      }
    }
  }

  /**
   * A value on a square: a win is a pill, a loss a box, a draw a hexagon.
   * @param {number} square
   * @param {Api.Value} value
   * @param {number} y
   */
  pill(square, value, y) {
    const text = valueSymbol(value);
    const half = 11 + text.length * 8;
    const [left, right, top, bottom] = [50 - half, 50 + half, y - 17, y + 17];
    const [inner, outer] = [`H${right - 5}`, `M${left - 6} ${y} L${left + 5} ${top}`];
    const hexagon = `${outer} ${inner} L${right + 6} ${y} L${right - 5} ${bottom} H${left + 5} Z`;
    const box = { x: left, y: top, width: 2 * half, height: 34, rx: value.wdl === "win" ? 17 : 3 };
    const draw = value.wdl === "draw";
    const shape = draw
      ? s("path", { class: "pill draw", d: hexagon })
      : s("rect", { class: `pill ${value.wdl}`, ...box });
    this.layers.values.append(this.at(square, shape, s("text", { class: "pilltext", x: 50, y: y + 9 }, text)));
  }

  /** @param {number} square */
  centre(square) {
    const [x, y] = this.place(square);
    return [x * 100 + 50, y * 100 + 50];
  }

  /**
   * @param {number} from
   * @param {number} to
   * @param {string} className
   */
  arrow(from, to, className) {
    const [[x1, y1], [x2, y2]] = [this.centre(from), this.centre(to)];
    const cut = 16 / (Math.hypot(x2 - x1, y2 - y1) || 1);
    const [dx, dy] = [(x2 - x1) * cut, (y2 - y1) * cut];
    const ends = { x1: x1 + dx, y1: y1 + dy, x2: x2 - dx, y2: y2 - dy };
    this.layers.arrows.append(s("line", { class: `arrow ${className}`, ...ends, "marker-end": "url(#head)" }));
  }

  /**
   * A path over the board, slightly beside the middle of the squares, so that two paths do not cover each other.
   * @param {number[]} squares
   * @param {string} className
   */
  path(squares, className) {
    const beside = className === "w" ? -10 : 10;
    const points = squares.flatMap((square) => this.centre(square).map((v) => v + beside)).join();
    this.layers.arrows.append(s("polyline", { class: `route ${className}`, points, "marker-end": "url(#head)" }));
  }

  /**
   * @param {number} square
   * @param {string} className
   */
  tintSquare(square, className) {
    const box = { class: `tint ${className}`, x: 4, y: 4, width: 92, height: 92, rx: 8 };
    this.layers.tint.append(this.at(square, s("rect", box)));
  }

  /** Shows a move by an arrow; null removes the arrow. @param {string | null | undefined} uci */
  point(uci) {
    this.hint = uci ?? null;
    this.renderMarks();
  }

  /**
   * Draws or removes an arrow; an arrow from a square to itself removes all.
   * @param {number} from
   * @param {number} to
   */
  toggleArrow(from, to) {
    if (to < 0) return;
    const at = this.arrows.findIndex(([a, b]) => a === from && b === to);
    if (from === to) this.arrows = [];
    else if (at >= 0) this.arrows.splice(at, 1);
    else this.arrows.push([from, to]);
    this.renderMarks();
  }

  // Labels for screen readers.

  /** @param {number} square */
  label(square) {
    const { kind, owner } = ground(square);
    const piece = this.board.squares[square];
    const parts = [name(square)];
    if (kind !== "land") parts.push(owner ? t(`ground.${kind}.${owner}`) : t("ground.water"));
    parts.push(piece ? pieceName(piece) : t("empty"));
    const value = this.marked.get(square);
    if (value) parts.push(inWords(value));
    else if (this.selected !== null && this.targets().has(square)) parts.push(t("target"));
    if (square === this.goal) parts.push(t("lesson.goal"));
    if (this.overlay?.say) parts.push(...this.overlay.say(square));
    return described(parts);
  }

  renderLabels() {
    this.grid.setAttribute("aria-label", t("board"));
    for (let square = 0; square < 63; square++) {
      const cell = this.cellOf(square);
      cell.setAttribute("aria-label", this.label(square));
      cell.dataset.square = name(square);
      cell.setAttribute("aria-selected", String(square === this.selected));
      cell.tabIndex = square === this.focused ? 0 : -1;
      cell.classList.toggle("movable", this.isMovable(square));
    }
  }

  // The user's actions.

  /** @param {number | null} square */
  select(square) {
    this.selected = square;
    this.renderMarks();
    this.renderLabels();
  }

  /**
   * Whether the user may move the piece on a square: one of the side to move or, while it is not the user's turn, one
   * with a premove.
   * @param {number} square
   */
  isOwn(square) {
    if (this.locked) return this.moves.some((move) => index(move.from) === square);
    const piece = this.board.squares[square];
    return piece !== null && isWhite(piece) === (this.board.turn === "w");
  }

  /** @param {number} square */
  isMovable(square) {
    return this.editing ? this.board.squares[square] !== null : this.isOwn(square);
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  legal(from, to) {
    return this.moves.some((move) => index(move.from) === from && index(move.to) === to);
  }

  /** A click, a tap, or Enter. @param {number} square */
  activate(square) {
    const from = this.selected;
    if (this.editing) this.on.edit("click", square);
    else if (from === null || from === square || this.isOwn(square))
      this.select(this.isOwn(square) && from !== square ? square : null);
    else this.move(from, square);
  }

  /**
   * Plays the user's move, or puts the piece back and has the reason said why it is not legal.
   * @param {number} from
   * @param {number} to
   */
  move(from, to) {
    const uci = name(from) + name(to);
    if (this.legal(from, to)) return this.on.play(uci);
    this.selected = null;
    this.render();
    const art = this.artOn(from);
    if (art) shake(art, this.place(from));
    return this.on.refuse(uci);
  }

  /** @param {number} square */
  focus(square) {
    this.focused = square;
    this.pointed = false;
    this.renderLabels();
    this.cellOf(square).focus();
  }

  /** The picture as the text of an SVG file. */
  toSvg() {
    return toSvg(this.svg, WIDTH, HEIGHT);
  }
}
