// The browser's storage. It may be blocked or full, and other versions of the page may have written to it.

/**
 * The value that is kept under a key; `otherwise` if there is none.
 * @template T
 * @param {string} key
 * @param {T} otherwise
 * @returns {T} what other versions may have written as anything
 */
export function recall(key, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null") ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** Whether the browser keeps anything. */
export const isKeeping = () => keep("doushouqi.trial", 1);

/**
 * Keeps a value under a key; returns whether the browser has kept it.
 * @param {string} key
 * @param {unknown} value
 */
export function keep(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}
