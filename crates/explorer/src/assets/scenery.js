// The board without pieces: sand, two lakes with a shoreline, traps and dens in their owner's colour, a wooden frame.
// Everything lies on a field of 700 x 900, a square being 100 x 100.

import { ground } from "./position.js";
import { s } from "./ui.js";

/** The frame's width on each side of the field. */
export const EDGE = { left: 32, top: 10, right: 10, bottom: 32 };
export const WIDTH = 700 + EDGE.left + EDGE.right;
export const HEIGHT = 900 + EDGE.top + EDGE.bottom;

/** A lake's outline on 200 x 300. Every square's middle is in the water. */
const LAKE =
  "M58 9 C88 2 104 14 128 9 C164 3 190 18 193 52 C196 78 184 96 189 122 C196 152 190 170 192 " +
  "198 C198 226 194 244 190 262 " +
  "C182 290 150 297 122 291 C98 286 82 297 54 293 C24 290 6 276 8 244 C10 218 16 204 10 176 C4 148 12 128 9 100 " +
  "C5 74 3 60 9 40 C15 20 34 13 58 9 Z";

/** The deep and the deepest part of a lake. */
const DEEP = [
  "M62 40 C92 28 140 34 154 58 C168 86 150 110 158 142 C166 180 160 226 146 248 C124 270 78 266 54 246 " +
    "C34 222 50 190 44 156 C38 122 32 64 62 40 Z",
  "M82 82 C104 70 132 80 132 104 C134 128 122 146 130 172 C136 206 112 226 92 216 C70 204 80 172 74 146 " +
    "C68 122 64 94 82 82 Z",
];

/** Ripples in a lake, each at a point. */
const RIPPLES = [
  [30, 52],
  [118, 38],
  [72, 84],
  [136, 112],
  [28, 148],
  [92, 176],
  [140, 212],
  [38, 236],
  [98, 262],
];

/** Tufts of grass on the sand, and reeds in the shallows. */
const GRASS = [
  [94, 300],
  [308, 488],
  [390, 322],
  [396, 612],
  [608, 352],
  [606, 596],
  [88, 574],
  [352, 446],
];
const REEDS = [
  [118, 586],
  [186, 322],
  [576, 328],
  [512, 588],
];

const path = (/** @type {string} */ d, /** @type {string} */ className) => s("path", { d, class: className });
const at = (/** @type {number} */ x, /** @type {number} */ y, /** @type {SVGElement} */ child) =>
  s("g", { transform: `translate(${x} ${y})` }, child);

/** @type {(id: string, size: number, ...children: (SVGElement | SVGElement[])[]) => SVGElement} */
const pattern = (id, size, ...children) =>
  s("pattern", { id, width: size, height: size, patternUnits: "userSpaceOnUse" }, children);

/** Paints that cannot be a colour: a texture for sand, hatching and dots that tell results apart without colour. */
export function paints() {
  return [
    pattern("sand-grain", 140, sandGrain()),
    pattern("hatching", 14, path("M-2 16 L16 -2 M-9 9 L9 -9 M5 23 L23 5", "hatch")),
    pattern(
      "dots",
      16,
      s("circle", { class: "dot", cx: 4, cy: 4, r: 2.6 }),
      s("circle", { class: "dot", cx: 12, cy: 12, r: 2.6 }),
    ),
  ];
}

/** Grains at fixed but irregular places: a linear congruential generator draws the same texture each time. */
function sandGrain() {
  let state = 7;
  const next = (/** @type {number} */ below) => {
    state = (state * 16807) % 2147483647;
    return Math.floor((state / 2147483647) * below);
  };
  const grain = () => `M${next(140)} ${next(140)}h.01`;
  const grains = (/** @type {number} */ n) => Array.from({ length: n }, grain).join("");
  return [path(grains(46), "grain dark"), path(grains(34), "grain light")];
}

/** Sand and lakes: the same from both sides of the board. */
export function landscape() {
  const tiles = [];
  for (let i = 0; i < 63; i += 2) tiles.push(`M${(i % 7) * 100} ${Math.floor(i / 7) * 100}h100v100h-100z`);
  const lines = [
    ...[1, 2, 3, 4, 5, 6].map((x) => `M${x * 100} 0V900`),
    ...[1, 2, 3, 4, 5, 6, 7, 8].map((y) => `M0 ${y * 100}H700`),
  ];
  return [
    s("rect", { class: "sand", width: 700, height: 900 }),
    path(tiles.join(""), "sand second"),
    path(lines.join(""), "grid-lines"),
    s("rect", { width: 700, height: 900, fill: "url(#sand-grain)" }),
    ...GRASS.map(([x, y]) => at(x, y, tuft("grass"))),
    at(100, 300, lake()),
    s("g", { transform: "matrix(-1 0 0 -1 600 600)" }, lake()),
    ...REEDS.map(([x, y]) => at(x, y, tuft("reed"))),
  ];
}

const tuft = (/** @type {string} */ className) =>
  path("M0 0 q-3 -11 -9 -16 M0 0 q0 -13 2 -21 M0 0 q4 -9 10 -13", className);

/** A lake on 200 x 300: wet sand, foam, water (deeper in the middle), ripples, and the lines between its squares. */
function lake() {
  const scaled = (/** @type {number} */ scale, /** @type {string} */ className) =>
    s("path", {
      d: LAKE,
      class: className,
      transform: `translate(${100 - 100 * scale} ${150 - 150 * scale}) scale(${scale})`,
    });
  const ripples = RIPPLES.map(([x, y]) => `M${x} ${y} q7 -6 14 0 t14 0`).join("");
  return s(
    "g",
    { class: "lake" },
    path(LAKE, "shore"),
    path(LAKE, "shallows"),
    scaled(0.93, "water"),
    DEEP.map((d) => path(d, "deep")),
    path(LAKE, "foam"),
    scaled(0.95, "foam inner"),
    path(ripples, "ripple"),
    path("M100 14V288 M14 100H186 M14 200H186", "fords"),
  );
}

/** The trap or den on a square, or null. @param {number} square */
export function building(square) {
  const { kind, owner } = ground(square);
  if (kind === "trap") return s("g", { class: `trap of-${owner}` }, trap());
  if (kind === "den") return s("g", { class: `den of-${owner}` }, den());
  return null;
}

/** All traps and dens. @param {(square: number, art: SVGElement) => SVGElement} put places a picture at a square */
export const buildings = (put) =>
  Array.from({ length: 63 }, (_, square) => {
    const art = building(square);
    return art ? [put(square, art)] : [];
  }).flat();

/** A net of rope in the owner's colour; a piece that stands on it leaves the corners visible. */
const trap = () => [
  s("rect", { class: "plot", x: 4, y: 4, width: 92, height: 92, rx: 14 }),
  path("M18 6 L94 82 M6 18 L82 94 M46 6 L94 54 M6 46 L54 94 M74 6 L94 26 M6 74 L26 94", "rope"),
  path("M82 6 L6 82 M94 18 L18 94 M54 6 L6 54 M94 46 L46 94 M26 6 L6 26 M94 74 L74 94", "rope"),
  s("rect", { class: "border", x: 7, y: 7, width: 86, height: 86, rx: 11 }),
];

/** A pavilion with turned-up eaves and a dark door, in the owner's colour. */
const den = () => [
  s("rect", { class: "plot", x: 3, y: 3, width: 94, height: 94, rx: 14 }),
  s("rect", { class: "border", x: 7, y: 7, width: 86, height: 86, rx: 11 }),
  s("rect", { class: "wall", x: 24, y: 46, width: 52, height: 38 }),
  path("M40 84 V66 C40 56 45 52 50 52 C55 52 60 56 60 66 V84 Z", "door"),
  path("M29 48 V84 M71 48 V84", "column"),
  path("M12 42 C24 41 34 34 40 22 H60 C66 34 76 41 88 42 C86 48 80 51 74 51 H26 C20 51 14 48 12 42 Z", "roof"),
  path("M40 22 C40 17 44 17 44 14 H56 C56 17 60 17 60 22 Z", "roof ridge"),
  path("M18 84 H82 V90 H18 Z", "step"),
];

/** The frame around the field. */
export function frame() {
  return [
    s("rect", { class: "edge", width: WIDTH, height: HEIGHT, rx: 16 }),
    path("M6 210 C16 420 4 610 14 800 M19 60 C10 330 26 560 16 880", "wood"),
    path(`M120 ${HEIGHT - 7} c210 -9 400 3 570 -3`, "wood"),
    s("rect", { class: "edge-light", x: 1.5, y: 1.5, width: WIDTH - 3, height: HEIGHT - 3, rx: 14.5 }),
    s("rect", { class: "gilt", x: EDGE.left - 4, y: EDGE.top - 4, width: 708, height: 908, rx: 5 }),
  ];
}

/** The names of files and ranks on the frame. @param {boolean} flipped */
export function coordinates(flipped) {
  const text = (/** @type {number} */ x, /** @type {number} */ y, /** @type {string} */ label) =>
    s("text", { x, y }, label);
  const files = [..."abcdefg"].map((file, i) => text(EDGE.left + (flipped ? 6 - i : i) * 100 + 50, HEIGHT - 9, file));
  const ranks = Array.from({ length: 9 }, (_, i) =>
    text(EDGE.left / 2 - 1, EDGE.top + (flipped ? i : 8 - i) * 100 + 57, String(i + 1)),
  );
  return [...files, ...ranks];
}
