// A chess clock: a time for each side, and an increment after each move. Times are milliseconds.

export class Clock {
  /** @param {{initial: number, increment: number, left?: Record<Api.Turn, number> | null}} options */
  constructor({ initial, increment, left }) {
    this.increment = increment;
    /** @type {Record<Api.Turn, number>} */
    this.left = left ? { ...left } : { w: initial, b: initial };
    /** @type {Api.Turn | null} */
    this.running = null;
    this.since = 0;
  }

  /** The time that a side has left; never below 0. @param {Api.Turn} side */
  read(side, now = performance.now()) {
    const used = this.running === side ? now - this.since : 0;
    return Math.max(0, this.left[side] - used);
  }

  /** @param {Api.Turn} side */
  start(side, now = performance.now()) {
    this.running = side;
    this.since = now;
  }

  stop(now = performance.now()) {
    if (!this.running) return;
    this.left[this.running] = this.read(this.running, now);
    this.running = null;
  }

  /** Stops without the time that has passed since the start. */
  cancel() {
    this.running = null;
  }

  /** The running side has moved: its increment is added, and the other side's time runs. */
  press(now = performance.now()) {
    const mover = this.running;
    if (!mover) return;
    this.stop(now);
    this.left[mover] += this.increment;
    this.start(mover === "w" ? "b" : "w", now);
  }

  /** The side whose time is over, or null. */
  fallen(now = performance.now()) {
    return this.running && this.read(this.running, now) <= 0 ? this.running : null;
  }
}

/** "3:05"; below twenty seconds with tenths: "0:07.3". @param {number} ms */
export function clockText(ms) {
  const minutes = Math.floor(ms / 60000);
  const seconds = (ms % 60000) / 1000;
  if (ms >= 20000) return `${minutes}:${String(Math.floor(seconds)).padStart(2, "0")}`;
  return `${minutes}:${(Math.floor(seconds * 10) / 10).toFixed(1).padStart(4, "0")}`;
}
