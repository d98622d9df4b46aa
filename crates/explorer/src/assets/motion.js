// The motion of pieces on the picture: pieces leap over water visibly, captured pieces fade, and a
// piece shakes that cannot move there.

const LEAP_MS = 460;
const FADE_MS = 260;
const SHAKE_MS = 320;

export const stands = (/** @type {number} */ x, /** @type {number} */ y) => `translate(${x * 100}px, ${y * 100}px)`;

export const stillness = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Two places on the picture, in squares, that one step does not join. */
export const isLeap = (/** @type {[number, number]} */ [x1, y1], /** @type {[number, number]} */ [x2, y2]) =>
  Math.abs(x2 - x1) + Math.abs(y2 - y1) > 1;

/**
 * Plays a leap of a piece's picture: it rises, comes nearer and casts its shadow farther away.
 * @param {SVGElement} art
 * @param {[number, number]} from
 * @param {[number, number]} to
 */
export function leap(art, from, to) {
  const at = (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ scale) =>
    `${stands(x, y)} translate(50px, 50px) scale(${scale}) translate(-50px, -50px)`;
  const middle = at((from[0] + to[0]) / 2, (from[1] + to[1]) / 2 - 0.3, 1.36);
  const timing = { duration: LEAP_MS, easing: "ease-in-out" };
  art.animate({ transform: [at(...from, 1), middle, at(...to, 1)] }, timing);
  const shadow = art.querySelector(".shadow");
  shadow?.animate({ transform: ["none", "translate(10px, 34px)", "none"], opacity: [1, 0.6, 1] }, timing);
}

/**
 * Shakes a piece's picture, whose move is not legal.
 * @param {SVGElement} art
 * @param {[number, number]} place
 */
export function shake(art, [x, y]) {
  const way = [0, -0.09, 0.09, -0.06, 0.06, 0].map((by) => stands(x + by, y));
  if (!stillness()) art.animate({ transform: way }, { duration: SHAKE_MS });
}

/** Removes the picture of a captured piece once it has faded. @param {SVGElement} art */
export function fade(art) {
  if (stillness()) return art.remove();
  art.setAttribute("class", "captured");
  art.animate({ opacity: [1, 0] }, { duration: FADE_MS, easing: "ease-in", fill: "forwards" }).finished.then(
    () => art.remove(),
    () => art.remove(),
  );
}
