// The board: a picture in SVG, and over it an invisible grid of 63 cells that takes the pointer, the keys and the focus,
// and says what the picture shows.

import { pieceArt } from "./pieces.js";
import { ground, index, isWhite, name, parse } from "./position.js";
import { building, coordinates, EDGE, frame, HEIGHT, landscape, paints, WIDTH } from "./scenery.js";
import { h, inWords, pieceName, s, short, t } from "./ui.js";

const arrowHead = () =>
  s("marker",
    { id: "head", viewBox: "0 0 10 10", refX: 6, refY: 5, markerWidth: 3.2, markerHeight: 3.2, orient: "auto-start-reverse" },
    s("path", { d: "M0 0 L10 5 L0 10 z", fill: "context-stroke" }));

export class Board {
  /** `on`: `select(square)`, `play(uci)`, `edit(action, square, from)`, `arrow(from, to)`, `key(event, square)`, `focus(square)`. */
  constructor(host, on) {
    Object.assign(this, { on, flipped: false, style: "animals", rules: "", board: parse("7/7/7/7/7/7/7/7/7 w"), moves: [], selected: null });
    Object.assign(this, { showValues: true, overlay: null, last: null, hint: null, arrows: [], editing: false, locked: false, focused: 24, drawn: new Map(), marked: new Map() });
    const layers = ["ground", "tint", "marks", "pieces", "arrows", "values"];
    this.layers = Object.fromEntries(layers.map((layer) => [layer, s("g", { class: layer })]));
    const viewBox = `0 0 ${WIDTH} ${HEIGHT}`;
    this.svg = s("svg", { class: "picture", viewBox, "aria-hidden": "true", focusable: "false" });
    this.field = s("g", { transform: `translate(${EDGE.left} ${EDGE.top})` }, Object.values(this.layers));
    this.coordinates = s("g", { class: "coordinates" });
    this.svg.append(s("defs", {}, arrowHead(), paints()), ...frame(), this.coordinates, this.field);
    this.grid = h("div", { class: "grid", role: "grid", "aria-readonly": "true" });
    this.cells = [];
    for (let row = 0; row < 9; row++) {
      const line = h("div", { role: "row" });
      for (let column = 0; column < 7; column++) {
        const cell = h("div", { role: "gridcell", tabindex: "-1", class: "cell" });
        this.cells.push(cell);
        line.append(cell);
      }
      this.grid.append(line);
    }
    this.host = host;
    host.append(this.svg, this.grid);
    this.listen();
    this.drawGround();
  }

  place(square) {
    const [file, rank] = [square % 7, Math.floor(square / 7)];
    return this.flipped ? [6 - file, rank] : [file, 8 - rank];
  }

  cellOf(square) {
    const [x, y] = this.place(square);
    return this.cells[y * 7 + x];
  }

  squareOf(cell) {
    const i = this.cells.indexOf(cell);
    if (i < 0) return -1;
    const [x, y] = [i % 7, Math.floor(i / 7)];
    return this.flipped ? y * 7 + 6 - x : (8 - y) * 7 + x;
  }

  at(square, ...children) {
    const [x, y] = this.place(square);
    return s("g", { transform: `translate(${x * 100} ${y * 100})` }, children);
  }

  drawGround() {
    const buildings = Array.from({ length: 63 }, (_, square) => {
      const art = building(square);
      return art ? this.at(square, art) : [];
    });
    this.layers.ground.replaceChildren(...[landscape(), buildings].flat(Infinity));
    this.coordinates.replaceChildren(...coordinates(this.flipped));
  }

  flip(flipped) {
    this.flipped = flipped;
    this.drawGround();
    this.render();
  }

  setStyle(style) {
    this.style = style;
    this.redraw();
  }

  setRules(rules) {
    this.rules = rules;
    this.redraw();
  }

  redraw() {
    this.layers.pieces.replaceChildren();
    this.drawn.clear();
    this.render();
  }

  show(fen, last) {
    this.board = parse(fen) ?? this.board;
    this.last = last;
    this.moves = [];
    this.selected = null;
    this.hint = null;
    this.render();
  }

  setMoves(moves) {
    this.moves = moves;
    this.render();
  }

  /** Values by target square: of the selected piece, or the best of any. Moves come best first. */
  targets() {
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
    const seen = new Set();
    this.board.squares.forEach((piece, square) => {
      if (!piece) return;
      seen.add(piece);
      let art = this.drawn.get(piece);
      if (!art) {
        art = s("g", { class: "mover", "data-piece": piece }, pieceArt(piece, this.style, this.rules));
        this.drawn.set(piece, art);
        this.layers.pieces.append(art);
      }
      const [x, y] = this.place(square);
      art.style.transform = `translate(${x * 100}px, ${y * 100}px)`;
      art.setAttribute("data-square", name(square));
    });
    for (const [piece, art] of this.drawn) {
      if (seen.has(piece)) continue;
      art.remove();
      this.drawn.delete(piece);
    }
  }

  renderMarks() {
    const { marks, tint, values, arrows } = this.layers;
    for (const layer of [marks, tint, values, arrows]) layer.replaceChildren();
    if (this.last) {
      for (const square of [index(this.last.slice(0, 2)), index(this.last.slice(2, 4))]) marks.append(this.at(square, s("rect", { class: "last", x: 2, y: 2, width: 96, height: 96, rx: 6 })));
    }
    if (this.selected !== null) marks.append(this.at(this.selected, s("rect", { class: "selected", x: 3, y: 3, width: 94, height: 94, rx: 8 })));
    this.marked = new Map();
    if (this.overlay?.values) this.renderWhatIf();
    else if (!this.editing && (!this.overlay || this.selected !== null)) this.renderTargets();
    this.overlay?.draw?.(this);
    for (const [from, to] of this.arrows) this.arrow(from, to, "user");
    if (this.hint) this.arrow(index(this.hint.slice(0, 2)), index(this.hint.slice(2, 4)), "hint");
  }

  renderTargets() {
    for (const [to, move] of this.targets()) {
      const taken = this.board.squares[to] !== null;
      if (this.selected !== null) {
        this.layers.marks.append(this.at(to, taken ? s("circle", { class: "take", cx: 50, cy: 50, r: 46 }) : s("circle", { class: "target", cx: 50, cy: 50, r: 11 })));
      }
      if (move.value) this.marked.set(to, move.value);
      if (this.showValues && move.value) this.pill(to, move.value, taken || this.selected !== null ? 82 : 50);
    }
  }

  renderWhatIf() {
    for (const [square, entry] of this.overlay.values) {
      const { value } = entry;
      if (value) {
        this.marked.set(square, value);
        const box = { x: 2, y: 2, width: 96, height: 96, rx: 8 };
        this.layers.tint.append(this.at(square, s("rect", { class: `tint ${value.wdl}`, ...box }),
          s("rect", { class: `texture ${value.wdl}`, ...box })));
        this.pill(square, value, square === this.overlay.square ? 82 : 50);
      } else if (entry.reason && entry.reason !== "same" && entry.reason !== "occupied") {
        this.layers.tint.append(this.at(square, s("path", { class: "barred", d: "M34 34 L66 66 M66 34 L34 66" })));
      }
    }
  }

  /** A value on a square: a win is a pill, a loss a box, a draw a hexagon. */
  pill(square, value, y) {
    const text = short(value);
    const half = 11 + text.length * 8;
    const [left, right, top, bottom] = [50 - half, 50 + half, y - 17, y + 17];
    const box = { class: `pill ${value.wdl}`, x: left, y: top, width: 2 * half, height: 34, rx: value.wdl === "win" ? 17 : 3 };
    const hexagon = `M${left - 6} ${y} L${left + 5} ${top} H${right - 5} L${right + 6} ${y} L${right - 5} ${bottom} H${left + 5} Z`;
    this.layers.values.append(this.at(square,
      value.wdl === "draw" ? s("path", { class: "pill draw", d: hexagon }) : s("rect", box),
      s("text", { class: "pilltext", x: 50, y: y + 9 }, text)));
  }

  centre(square) {
    const [x, y] = this.place(square);
    return [x * 100 + 50, y * 100 + 50];
  }

  arrow(from, to, cls) {
    const [[x1, y1], [x2, y2]] = [this.centre(from), this.centre(to)];
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const cut = 16 / length;
    this.layers.arrows.append(s("line", { class: `arrow ${cls}`, x1: x1 + (x2 - x1) * cut, y1: y1 + (y2 - y1) * cut, x2: x2 - (x2 - x1) * cut, y2: y2 - (y2 - y1) * cut, "marker-end": "url(#head)" }));
  }

  /** A way over the board, a little beside the middle of the squares, so that two do not cover one another. */
  path(squares, cls) {
    const beside = cls === "w" ? -10 : 10;
    const points = squares.map((square) => this.centre(square).map((v) => v + beside).join(",")).join(" ");
    this.layers.arrows.append(s("polyline", { class: `route ${cls}`, points, "marker-end": "url(#head)" }));
  }

  tintSquare(square, cls) {
    this.layers.tint.append(this.at(square, s("rect", { class: `tint ${cls}`, x: 4, y: 4, width: 92, height: 92, rx: 6 })));
  }

  /** Shows a move by an arrow; none for null. */
  point(uci) {
    this.hint = uci ?? null;
    this.renderMarks();
  }

  toggleArrow(from, to) {
    if (to < 0) return;
    const at = this.arrows.findIndex(([a, b]) => a === from && b === to);
    if (from === to) this.arrows = [];
    else if (at >= 0) this.arrows.splice(at, 1);
    else this.arrows.push([from, to]);
    this.renderMarks();
  }

  parseSquare(text) {
    return index(text);
  }

  arrowText() {
    return this.arrows.map(([from, to]) => name(from) + name(to)).join(",");
  }

  label(square) {
    const { kind, owner } = ground(square);
    const piece = this.board.squares[square];
    const parts = [name(square)];
    if (kind !== "land") parts.push(owner ? t(`ground.${kind}.${owner}`) : t("ground.water"));
    parts.push(piece ? pieceName(piece) : t("empty"));
    const value = this.marked.get(square);
    if (value) parts.push(inWords(value));
    else if (this.selected !== null && this.targets().has(square)) parts.push(t("target"));
    if (this.overlay?.say) parts.push(...this.overlay.say(square));
    return parts.join(", ");
  }

  renderLabels() {
    this.grid.setAttribute("aria-label", t("board"));
    for (let square = 0; square < 63; square++) {
      const cell = this.cellOf(square);
      cell.setAttribute("aria-label", this.label(square));
      cell.dataset.square = name(square);
      cell.setAttribute("aria-selected", String(square === this.selected));
      cell.tabIndex = square === this.focused ? 0 : -1;
    }
  }

  select(square) {
    this.selected = square;
    this.renderMarks();
    this.renderLabels();
  }

  /** Whether the user may move the piece on a square; none of them while the board is locked. */
  isOwn(square) {
    if (this.locked) return false;
    const piece = this.board.squares[square];
    return piece !== null && isWhite(piece) === (this.board.turn === "w");
  }

  legal(from, to) {
    return this.moves.some((move) => index(move.from) === from && index(move.to) === to);
  }

  /** A click, a tap, or Enter. */
  activate(square) {
    if (this.on.pick?.(square)) return;
    if (this.editing) this.on.edit("click", square);
    else if (this.selected !== null && this.legal(this.selected, square)) this.on.play(name(this.selected) + name(square));
    else this.select(this.isOwn(square) && square !== this.selected ? square : null);
  }

  focus(square) {
    this.focused = square;
    this.renderLabels();
    this.cellOf(square).focus();
  }

  listen() {
    this.grid.addEventListener("pointerdown", (event) => this.press(event));
    this.grid.addEventListener("contextmenu", (event) => event.preventDefault());
    this.grid.addEventListener("click", (event) => {
      // A screen reader's or a script's click, which no pointer came before.
      const square = this.squareOf(event.target.closest(".cell"));
      if (event.detail === 0 && square >= 0) this.activate(square);
    });
    this.grid.addEventListener("keydown", (event) => this.keydown(event));
  }

  press(event) {
    const square = this.squareOf(event.target.closest(".cell"));
    if (square < 0) return;
    event.preventDefault();
    const secondary = event.button === 2;
    if (!secondary && event.button !== 0) return;
    this.focused = square;
    this.cellOf(square).focus({ preventScroll: true });
    const piece = this.board.squares[square];
    const movable = !secondary && piece && (this.editing || this.isOwn(square));
    const already = square === this.selected;
    const art = movable ? this.drawn.get(piece) : null;
    let moved = false;
    const start = [event.clientX, event.clientY];
    const move = (e) => {
      if (!art || e.pointerId !== event.pointerId) return;
      if (!moved && Math.hypot(e.clientX - start[0], e.clientY - start[1]) < 5) return;
      if (!moved && !this.editing && !already) this.select(square);
      moved = true;
      const box = this.svg.getBoundingClientRect();
      const scale = WIDTH / box.width;
      art.classList.add("dragged");
      this.layers.pieces.append(art);
      art.style.transform = `translate(${(e.clientX - box.left) * scale - EDGE.left - 50}px, ${(e.clientY - box.top) * scale - EDGE.top - 50}px)`;
    };
    const end = (e) => {
      if (e.pointerId !== event.pointerId) return;
      for (const [kind, listener] of [["pointermove", move], ["pointerup", end], ["pointercancel", end]]) window.removeEventListener(kind, listener);
      art?.classList.remove("dragged");
      const target = e.type === "pointerup" ? this.squareOf(document.elementFromPoint(e.clientX, e.clientY)?.closest?.(".cell")) : square;
      if (secondary) this.on.arrow(square, target);
      else if (moved) this.drop(square, target);
      else this.activate(square);
    };
    for (const [kind, listener] of [["pointermove", move], ["pointerup", end], ["pointercancel", end]]) window.addEventListener(kind, listener);
  }

  drop(from, to) {
    if (this.editing) this.on.edit("drag", to, from);
    else if (to >= 0 && this.legal(from, to)) return this.on.play(name(from) + name(to));
    this.renderPieces();
    if (to === from) this.select(from);
  }

  keydown(event) {
    const cell = event.target.closest(".cell");
    const at = this.cells.indexOf(cell);
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const [x, y] = [at % 7, Math.floor(at / 7)];
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const square = this.squareOf(cell);
    let to = null;
    if (event.key in steps) to = [x + steps[event.key][0], y + steps[event.key][1]];
    else if (event.key === "Home") to = [0, y];
    else if (event.key === "End") to = [6, y];
    else if (event.key === "PageUp") to = [x, 0];
    else if (event.key === "PageDown") to = [x, 8];
    else if (event.key === "Enter" || event.key === " ") this.activate(square);
    else if (event.key === "Escape" && this.selected !== null) this.select(null);
    else if (!this.on.key(event, square)) return;
    event.preventDefault();
    event.stopPropagation();
    if (to && to[0] >= 0 && to[0] < 7 && to[1] >= 0 && to[1] < 9) this.focus(this.squareOf(this.cells[to[1] * 7 + to[0]]));
  }

  /** The picture as an SVG file of its own: classes and variables of the page do not reach it, so they are written in. */
  toSvg() {
    const copy = this.svg.cloneNode(true);
    const properties = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "fill-opacity", "font-family", "font-size", "font-weight", "text-anchor"];
    const originals = this.svg.querySelectorAll("*");
    copy.querySelectorAll("*").forEach((element, i) => {
      const style = getComputedStyle(originals[i]);
      for (const property of properties) {
        const value = style.getPropertyValue(property);
        if (value && value !== "none" && value !== "normal") element.setAttribute(property, value);
        else if (property === "fill" && value === "none") element.setAttribute("fill", "none");
      }
      const { transform } = originals[i].style;
      if (transform) element.setAttribute("transform", transform.replaceAll("px", ""));
      element.removeAttribute("style");
      element.removeAttribute("class");
    });
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("width", WIDTH);
    copy.setAttribute("height", HEIGHT);
    for (const attribute of ["class", "aria-hidden", "focusable"]) copy.removeAttribute(attribute);
    return new XMLSerializer().serializeToString(copy);
  }
}
