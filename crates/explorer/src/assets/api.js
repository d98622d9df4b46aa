// The server's API. Answers are kept, as a position's value does not change.

import { during } from "./pending.js";
import { NO_CAPTURE_LIMIT } from "./position.js";
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

/** @param {string} path */
export function address(path, params = {}) {
  const given = Object.entries(params).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const query = given.map(
    ([key, value]) => `${key}=${encodeURIComponent(key === "fen" ? value.replaceAll(" ", "_") : value)}`,
  );
  return `/api/v1/${path}${query.length ? `?${query.join("&")}` : ""}`;
}

/**
 * A no-capture limit as a parameter: 0 for no limit, undefined for the usual one.
 * @param {number | null} limit
 */
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

/** @type {(url: string, options: any) => Promise<any>} */
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
 * @param {string} path
 * @param {Record<string, any>} [params]
 * @param {{ signal?: AbortSignal, keep?: boolean }} [options]
 * @returns {Promise<any>} the answer; web/openapi.d.ts declares its type
 */
export async function get(path, params, { signal, keep = true } = {}) {
  const url = address(path, params);
  if (keep && kept.has(url)) return kept.get(url);
  const body = await during(url, patiently(url, { signal }));
  if (keep) {
    if (kept.size >= KEPT) kept.delete(kept.keys().next().value);
    kept.set(url, body);
  }
  return body;
}

/** @type {(path: string, body: unknown, options?: { signal?: AbortSignal }) => Promise<any>} */
export const post = (path, body, { signal } = {}) =>
  during(
    path,
    request(address(path), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal,
    }),
  );

/** Drops the kept answers, because new tables are ready. */
export const forget = () => kept.clear();
