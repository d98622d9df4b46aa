// The pieces: discs that carry one of eight animals, drawn here on a field of 100 x 100. A face is one half drawn
// twice, and its asymmetric parts. Drawings instead of text: many machines have no glyphs for the animals.

import { CHARACTERS } from "./characters.js";
import { isWhite, strength } from "./position.js";
import { s } from "./ui.js";

const INK = "#2a211d";
const ROUND = 'stroke-linecap="round" stroke-linejoin="round"';

/** Both halves of a face: `half` is drawn as it is and mirrored in the line x = 50. */
const both = (/** @type {string} */ half) => `${half}<g transform="matrix(-1 0 0 1 100 0)">${half}</g>`;
const line = (/** @type {string} */ d, width = 2.4, color = INK) =>
  `<path d="${d}" fill="none" stroke="${color}" stroke-width="${width}" ${ROUND}/>`;
const shape = (/** @type {string} */ d, /** @type {string} */ fill, width = 2.4) =>
  `<path d="${d}" fill="${fill}" stroke="${INK}" stroke-width="${width}" stroke-linejoin="round"/>`;
const blot = (/** @type {string} */ d, fill = INK) => `<path d="${d}" fill="${fill}"/>`;
/** @type {(x: number, y: number, rx: number, ry?: number, fill?: string) => string} */
const dot = (x, y, rx, ry = rx, fill = INK) => `<ellipse cx="${x}" cy="${y}" rx="${rx}" ry="${ry}" fill="${fill}"/>`;
/** @type {(x: number, y: number, r?: number) => string} */
const eye = (x, y, r = 3.4) => dot(x, y, r, r * 1.12) + dot(x + 1.1, y - 1.3, r * 0.34, r * 0.34, "#fff");
/** @type {(x: number, y: number, iris: string) => string} */
const catEye = (x, y, iris) =>
  `<ellipse cx="${x}" cy="${y}" rx="5" ry="4.4" fill="${iris}" stroke="${INK}" stroke-width="1.8"/>` +
  dot(x, y, 1.6, 3.8);

const elephant =
  both(
    shape("M40 27 C30 13 9 17 8 40 C7 60 20 74 35 66 C38 64 39 60 39 56 Z", "#8fa3b5") +
      blot("M35 31 C27 22 15 26 15 41 C15 55 24 63 33 58 Z", "#c9a7a6"),
  ) +
  shape("M50 17 C65 17 73 28 72 42 C71 53 66 60 59 63 L41 63 C34 60 29 53 28 42 C27 28 35 17 50 17 Z", "#a9bccb") +
  both(shape("M40 58 C40 68 37 74 29 76 C33 70 33 64 33 57 Z", "#fdf6e3", 2)) +
  line("M50 44 C50 62 47 74 53 81 C58 86 66 83 65 76", 17) +
  line("M50 44 C50 62 47 74 53 81 C58 86 66 83 65 76", 12.4, "#a9bccb") +
  line("M45 58 H55 M45 65 H54 M46 72 H55", 1.6, "#6f8496") +
  both(eye(38, 42) + line("M33 34 C35 32 39 32 42 34", 2, "#6f8496"));

const mane = Array.from({ length: 14 }, (_, i) => {
  const turn = (i / 14) * 2 * Math.PI;
  return [50 + 29 * Math.sin(turn), 49 - 28 * Math.cos(turn)].map((v) => v.toFixed(1));
});
const lion =
  mane
    .map(([x, y]) => `<circle cx="${x}" cy="${y}" r="11.5" fill="#9c5221" stroke="${INK}" stroke-width="2.4"/>`)
    .join("") +
  `<circle cx="50" cy="49" r="30" fill="#9c5221"/>` +
  both(shape("M33 34 C28 22 36 18 43 26 Z", "#eab54d", 2)) +
  shape("M50 25 C66 25 73 37 72 50 C71 66 60 75 50 75 C40 75 29 66 28 50 C27 37 34 25 50 25 Z", "#f3c862") +
  blot("M50 50 C60 52 65 58 62 66 C58 73 54 74 50 74 C46 74 42 73 38 66 C35 58 40 52 50 50 Z", "#fdeec4") +
  shape("M43 53 H57 C57 58 53 60 50 61 C47 60 43 58 43 53 Z", "#6b3417", 1.6) +
  line("M50 61 V65 M50 65 C47 70 42 69 40 66 M50 65 C53 70 58 69 60 66") +
  both(eye(39, 44) + line("M33 37 C36 35 40 35 43 37", 2.2) + dot(42, 64, 0.9) + dot(38, 62, 0.9));

const tiger =
  both(
    shape("M32 35 C19 28 18 13 30 13 C38 13 43 19 44 25 Z", "#ef8c33") +
      blot("M32 30 C25 26 24 18 30 18 C35 18 38 22 39 26 Z", "#fbe3c6"),
  ) +
  shape("M50 19 C70 19 82 33 81 51 C80 68 66 81 50 81 C34 81 20 68 19 51 C18 33 30 19 50 19 Z", "#f59a3e") +
  both(blot("M20 56 C30 54 38 58 41 66 C44 74 46 78 46 80 C32 79 22 70 20 56 Z", "#fff3df")) +
  blot("M50 54 C60 54 66 60 65 68 C63 76 56 80 50 80 C44 80 37 76 35 68 C34 60 40 54 50 54 Z", "#fff3df") +
  blot(
    "M46.5 20 L50 35 L53.5 20 Z M36 22 C40 28 43 30 47 37 C41 35 35 30 32 25 Z M64 22 C60 28 " +
      "57 30 53 37 C59 35 65 30 68 25 Z",
  ) +
  both(
    blot(
      "M19.5 45 C26 44 30 46 34 50 C28 50 23 50 19.3 51 Z M21 61 C27 58 31 58 35 60 C30 62 26 " +
        "64 23 67 Z M29 74 C32 70 35 68 38 68 C36 71 35 75 34 78 Z",
    ),
  ) +
  shape("M43 57 H57 C57 62 53 64 50 65 C47 64 43 62 43 57 Z", "#d9717a", 1.6) +
  line("M50 65 V69 M50 69 C47 74 42 73 40 70 M50 69 C53 74 58 73 60 70") +
  both(catEye(38, 47, "#f4e06d"));

const panther =
  both(shape("M33 34 C21 29 19 15 30 14 C38 14 43 20 44 26 Z", "#d6ab3f") + dot(32, 22, 5.5, 5, INK)) +
  shape("M50 20 C69 20 80 34 79 51 C78 68 65 81 50 81 C35 81 22 68 21 51 C20 34 31 20 50 20 Z", "#edca5e") +
  blot("M50 55 C60 55 66 61 65 68 C63 76 56 80 50 80 C44 80 37 76 35 68 C34 61 40 55 50 55 Z", "#fff6dc") +
  [
    [50, 26],
    [50, 35],
    [42, 30],
  ]
    .map(([x, y]) => dot(x, y, 2.7, 2.9))
    .join("") +
  dot(58, 30, 2.7, 2.9) +
  both(
    dot(33, 35, 2.9) +
      dot(26, 43, 2.7, 3) +
      dot(25.5, 53, 2.6, 3.1) +
      dot(30, 61, 2.6) +
      dot(32, 70, 2.3) +
      dot(40, 37.5, 2.1) +
      dot(44, 71, 0.9) +
      dot(41, 67, 0.9) +
      catEye(38, 47, "#9fd08c") +
      line("M44.5 50 C43 54 42 57 42 60", 2.2),
  ) +
  shape("M43 57 H57 C57 62 53 64 50 65 C47 64 43 62 43 57 Z", "#7c3f33", 1.6) +
  line("M50 65 V69 M50 69 C47 74 42 73 40 70 M50 69 C53 74 58 73 60 70");

const wolf =
  both(
    shape("M24 45 C20 30 20 17 25 8 C34 13 41 20 45 28 Z", "#7d8996") +
      blot("M28 35 C26 27 26 20 28 15 C33 19 37 23 39 28 Z", "#d8c4bd"),
  ) +
  shape(
    "M50 22 C61 22 69 28 74 38 C76 45 80 51 87 57 L77 58 L80 66 L70 65 L66 72 C62 82 56 89 50 89 " +
      "C44 89 38 82 34 72 L30 65 L20 66 L23 58 L13 57 C20 51 24 45 26 38 C31 28 39 22 50 22 Z",
    "#94a1ae",
  ) +
  blot(
    "M50 48 C54 50 58 54 64 55 C70 56 74 57 78 57 L72 59 L74 63 L66 62 C64 74 57 87 50 87 C43 87 " +
      "36 74 34 62 L26 63 L28 59 L22 57 C26 57 30 56 36 55 C42 54 46 50 50 48 Z",
    "#eef1f4",
  ) +
  line("M50 28 V40 M45 32 V38 M55 32 V38", 1.8, "#5c6875") +
  both(blot("M30 43 L44 48 C42 53 34 52 30 43 Z") + `<circle cx="38.5" cy="47.8" r="2.1" fill="#f2c230"/>`) +
  shape("M43 72 C45 69 55 69 57 72 C57 77 53 79 50 80 C47 79 43 77 43 72 Z", INK, 1) +
  line("M50 80 V83 M50 83 L44 82 M50 83 L56 82", 2);

const dog =
  shape(
    "M50 17 C67 17 75 29 74 46 C74 56 72 62 69 70 C65 80 58 85 50 85 C42 85 35 80 31 70 C28 62 " +
      "26 56 26 46 C25 29 33 17 50 17 Z",
    "#d9a066",
  ) +
  blot(
    "M50 19 C54 28 54 40 57 50 C66 56 67 66 64 73 C61 80 56 83 50 83 C44 83 39 80 36 73 C33 66 " +
      "34 56 43 50 C46 40 46 28 50 19 Z",
    "#fbeedb",
  ) +
  both(shape("M36 20 C23 15 12 27 11 43 C10 56 14 67 20 68 C27 67 28 54 29 45 C30 36 33 28 38 23 Z", "#80502e")) +
  `<path d="M56 70 C57 82 54 91 50 91 C46 91 43 82 44 70 Z" fill="#e8747c" stroke="${INK}" stroke-width="2"/>` +
  line("M50 74 V83", 1.6, "#a83d4a") +
  line("M35 66 C40 72 47 72 50 67 C53 72 60 72 65 66") +
  shape("M42 55 C44 51 56 51 58 55 C58 61 54 64 50 65 C46 64 42 61 42 55 Z", INK, 1) +
  dot(47, 55.5, 2, 1.1, "#fff") +
  both(eye(38, 44, 3.7));

const cat =
  both(
    shape("M25 50 C20 34 20 21 23 11 C33 15 41 21 46 29 Z", "#d7c3ae") +
      blot("M28 35 C26 28 26 22 27 18 C33 21 37 25 40 29 Z", "#eda6a0"),
  ) +
  shape("M50 24 C69 24 82 36 82 53 C82 70 67 81 50 81 C33 81 18 70 18 53 C18 36 31 24 50 24 Z", "#eadccb") +
  blot("M46 25 L48 38 L50 29 L52 38 L54 25 Z M38 27 L43 37 L43 26 Z M62 27 L57 37 L57 26 Z", "#a58a6d") +
  both(
    blot("M19 49 L30 52 L19 55 Z M21 61 L31 60 L24 66 Z", "#a58a6d") +
      `<ellipse cx="36" cy="50" rx="6.4" ry="6.8" fill="#7fb04e" stroke="${INK}" stroke-width="2"/>` +
      dot(36, 50, 2.1, 5.6) +
      dot(37.6, 47.5, 1.2, 1.2, "#fff") +
      line("M36 64 L16 60 M36 67 L15 68 M37 70 L18 76", 1.5),
  ) +
  shape("M45 60 H55 C55 63 52 65 50 66 C48 65 45 63 45 60 Z", "#e0787e", 1.5) +
  line("M50 66 V68 M50 68 C48 73 43 73 41 70 M50 68 C52 73 57 73 59 70", 2.2);

const rat =
  both(
    `<circle cx="24" cy="30" r="17" fill="#8b7264" stroke="${INK}" stroke-width="2.4"/>` +
      '<circle cx="25" cy="31" r="10.5" fill="#eab2aa"/>',
  ) +
  shape("M50 23 C66 23 75 35 72 50 C69 64 60 80 50 83 C40 80 31 64 28 50 C25 35 34 23 50 23 Z", "#a1887a") +
  blot("M50 52 C58 52 63 58 60 66 C57 74 53 79 50 81 C47 79 43 74 40 66 C37 58 42 52 50 52 Z", "#d9c8bc") +
  both(eye(39.5, 46, 4) + line("M42 68 L20 62 M42 71 L18 72 M43 74 L22 82", 1.5)) +
  `<path d="M46 78 H54 V88 C52 89.5 48 89.5 46 88 Z" fill="#fffdf5" stroke="${INK}" stroke-width="1.8"/>` +
  line("M50 79 V88", 1.4) +
  shape("M43 72 C43 67 57 67 57 72 C57 77 53 79 50 79 C47 79 43 77 43 72 Z", "#ee8f95", 2);

/** @type {Record<string, string>} */
const FACES = { R: rat, C: cat, W: wolf, D: dog, P: panther, T: tiger, L: lion, E: elephant };

/**
 * The content of a disc: letters stand in the middle, drawings below the rank.
 * @param {string} letter
 * @param {string} style
 */
function emblem(letter, style) {
  if (style === "letters") return s("text", { class: "letter", x: 50, y: 74 }, letter);
  const characters = style === "characters";
  const group = s(
    "g",
    characters
      ? { class: "character", transform: "translate(20.5 27) scale(0.59)" }
      : { transform: "translate(14.5 20.5) scale(0.71)" },
  );
  group.innerHTML = characters ? CHARACTERS[letter] : FACES[letter];
  return group;
}

/**
 * A picture of a piece on 100 x 100, with its rank under `rules` in the rim.
 * @param {string} piece
 * @param {string} style "animals", "letters" or "characters"
 * @param {string} rules with every option
 */
export function pieceArt(piece, style, rules) {
  /** @type {(className: string, cx: number, cy: number, r: number) => SVGElement} */
  const circle = (className, cx, cy, r) => s("circle", { class: className, cx, cy, r });
  const arc = (/** @type {string} */ className, /** @type {string} */ d) => s("path", { class: className, d });
  return s(
    "g",
    { class: `piece ${isWhite(piece) ? "light" : "dark"}` },
    s("g", { class: "shadow" }, circle("cast", 51, 55, 45.5), circle("cast near", 50.5, 53.5, 44.5)),
    circle("side", 50, 51.5, 44),
    circle("disc", 50, 48.5, 44),
    // In a separate group, so that the disc remains the background of the text.
    s(
      "g",
      {},
      circle("rim", 50, 48.5, 38.5),
      arc("shine", "M15 32 A38.5 38.5 0 0 1 66 13.5"),
      arc("shade", "M85 65 A38.5 38.5 0 0 1 34 83.5"),
    ),
    emblem(piece.toUpperCase(), style),
    circle("badge", 50, 17.5, 13),
    s("text", { class: "rank", x: 50, y: 25 }, String(strength(piece, rules))),
  );
}

/**
 * A piece as a picture of its own, for text and buttons.
 * @param {string} piece
 * @param {string} style
 * @param {string} rules with every option
 */
export const pieceIcon = (piece, style, rules) =>
  s("svg", { class: "piece-icon", viewBox: "0 0 100 100", "aria-hidden": "true" }, pieceArt(piece, style, rules));
