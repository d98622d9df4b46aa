// The server's API. Answers are kept, as a position's value does not change.

import { during } from "./pending.js";
import { NO_CAPTURE_LIMIT, underscored } from "./position.js";
import { send } from "./transport.js";

const kept = new Map();
const KEPT = 400;

export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {Partial<Omit<Api.ErrorBody, "code">> & { code: string }} error
   */
  constructor(status, { code, reason, params, message, where }) {
    super(message);
    Object.assign(this, { status, code, reason, params, where });
  }
}

/** @type {(path: string, params?: Page.Query) => string} */
export function address(path, params = {}) {
  const given = Object.entries(params).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const query = given.map(
    ([key, value]) => `${key}=${encodeURIComponent(key === "fen" ? underscored(String(value)) : String(value))}`,
  );
  return `/api/v1/${path}${query.length ? `?${query.join("&")}` : ""}`;
}

/** A no-capture limit as a parameter: 0 for no limit, undefined for the usual one. @param {number | null} limit */
export const limitParam = (limit) => (limit === NO_CAPTURE_LIMIT ? undefined : (limit ?? 0));

/** @param {Response} response */
async function answer(response) {
  const body = await response.json().catch(() => null);
  if (response.ok && body) return body;
  throw new ApiError(
    response.status,
    body?.error ?? { code: "unreadable", message: response.statusText || "no answer" },
  );
}

/** @type {(url: string, options: RequestInit) => Promise<unknown>} */
async function request(url, options) {
  try {
    return await answer(await send(url, options));
  } catch (error) {
    if (error instanceof ApiError || error.name === "AbortError") throw error;
    throw new ApiError(0, { code: "offline", message: error.message });
  }
}

/** The most repetitions of a request above the server's rate limit, and the first and the longest wait in ms. */
const [REPEATS, FIRST_WAIT, LONGEST_WAIT] = [8, 1000, 4000];

/** @type {(ms: number, signal?: AbortSignal) => Promise<unknown>} */
const pause = (ms, signal) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });

/**
 * A request, repeated while the server's rate limit rejects it.
 * @param {string} url
 * @param {{ signal?: AbortSignal }} options
 */
async function patiently(url, options) {
  for (let left = REPEATS, wait = FIRST_WAIT; ; left--, wait = Math.min(2 * wait, LONGEST_WAIT)) {
    try {
      return await request(url, options);
    } catch (error) {
      if (error.code !== "rate_limited" || !left) throw error;
    }
    await pause(wait, options.signal);
  }
}

/**
 * GET; `keep: false` for answers that change over time.
 * @template {string} P
 * @param {P} path
 * @param {Page.Query} [params]
 * @param {{ signal?: AbortSignal, keep?: boolean }} [options]
 * @returns {Promise<Api.Answer<P>>}
 */
export async function get(path, params, { signal, keep = true } = {}) {
  const url = address(path, params);
  if (keep && kept.has(url)) return kept.get(url);
  const body = /** @type {Api.Answer<P>} */ (await during(url, patiently(url, { signal })));
  if (keep) {
    if (kept.size >= KEPT) kept.delete(kept.keys().next().value);
    kept.set(url, body);
  }
  return body;
}

/**
 * POST.
 * @template {keyof Api.Posted} P
 * @param {P} path
 * @param {unknown} given
 * @param {{ signal?: AbortSignal }} [options]
 */
export async function post(path, given, { signal } = {}) {
  const headers = { "content-type": "application/json" };
  const sent = request(address(path), { method: "POST", headers, body: JSON.stringify(given), signal });
  return /** @type {Api.Posted[P]} */ (await during(path, sent));
}

/** Drops the kept answers, because new tables are ready. */
export const forget = () => kept.clear();
