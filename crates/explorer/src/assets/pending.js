// What the page waits for. The reaction to an action is over when nothing is pending; programs that drive the page call
// `pending()`, which lists the rest. Not pending is what goes on until it is stopped, or repeats until it succeeds: a
// clock, the playback of a line, an analysis or a count that has begun to report, attempts to reach a lost server.

/** @type {Set<{ what: string }>} */
const begun = new Set();
/** @type {Set<number>} */
const timers = new Set();

/** Begins something; the returned function ends it. @param {string} what */
export function begin(what) {
  const work = { what };
  begun.add(work);
  return () => void begun.delete(work);
}

/**
 * A promise that is pending until it is settled.
 * @template T
 * @param {string} what
 * @param {Promise<T>} promise
 */
export function during(what, promise) {
  const end = begin(what);
  promise.then(end, end);
  return promise;
}

/**
 * Calls a function after a time; returns the timer, for `cancel`.
 * @param {() => unknown} act
 * @param {number} [ms]
 */
export function later(act, ms = 0) {
  const timer = setTimeout(() => {
    timers.delete(timer);
    act();
  }, ms);
  timers.add(timer);
  return timer;
}

/** @param {number | undefined} timer */
export function cancel(timer) {
  clearTimeout(timer);
  if (timer !== undefined) timers.delete(timer);
}

/** A promise that is fulfilled after a time. @param {number} ms */
export const pause = (ms) => new Promise((resolve) => later(() => resolve(undefined), ms));

/** Lists what the page waits for. */
function pending() {
  const moving = document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity);
  return [
    ...[...begun].map(({ what }) => what),
    ...[...timers].map(() => "a timer"),
    ...moving.map(() => "an animation"),
  ];
}

export function startPending() {
  // The event that a dialog has closed comes later than the end of its being open, and the reaction with it.
  document.addEventListener(
    "beforetoggle",
    ({ target, newState }) => {
      if (!(target instanceof HTMLDialogElement) || newState !== "closed") return;
      target.addEventListener("close", begin("a dialog that closes"), { once: true });
    },
    { capture: true },
  );
  Object.assign(globalThis, { pending });
}
