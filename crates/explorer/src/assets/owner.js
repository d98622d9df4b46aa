// Who may change the board: the game, the exercise or the line on it. An owner has one open question at a time, and the
// answer counts only while the owner waits for it, however late it comes.

/** Milliseconds after which the page says that it waits for an answer. */
export const SLOW = 400;

export class Owner {
  /** Stands for what the owner does now; every question, and whatever ends one, replaces it. */
  token = new AbortController();
  /** Whether a question is open. */
  asking = false;

  /** Drops the open question. */
  drop() {
    this.token.abort();
    this.token = new AbortController();
    this.asking = false;
  }

  /**
   * Asks a question, which drops the one before. A dropped question is aborted, and its promise is never settled, so
   * that the code behind `await` runs only if it may still change the board.
   * @template T
   * @param {(signal: AbortSignal) => Promise<T>} make
   * @param {() => unknown} [wait] is called if the answer takes long
   * @returns {Promise<T>}
   */
  ask(make, wait = () => {}) {
    this.drop();
    const { token } = this;
    this.asking = true;
    setTimeout(() => token === this.token && this.asking && wait(), SLOW);
    return new Promise((resolve, reject) => {
      /** @type {<V>(act: (value: V) => void) => (value: V) => void} */
      const ifOpen = (act) => (value) => {
        if (token !== this.token) return;
        this.asking = false;
        act(value);
      };
      make(token.signal).then(ifOpen(resolve), ifOpen(reject));
    });
  }
}

/** The line on the board, which owns the board if no game and no exercise does. */
export const line = new Owner();
