// The server's API. Answers are kept, as a position's value does not change.

const kept = new Map();
const KEPT = 400;

export class ApiError extends Error {
  constructor(status, { code, reason, params, message, where }) {
    super(message);
    Object.assign(this, { status, code, reason, params, where });
  }
}

export function address(path, params = {}) {
  const given = Object.entries(params).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const query = given.map(([key, value]) => `${key}=${encodeURIComponent(key === "fen" ? value.replaceAll(" ", "_") : value)}`);
  return `/api/v1/${path}${query.length ? `?${query.join("&")}` : ""}`;
}

async function answer(response) {
  const body = await response.json().catch(() => null);
  if (response.ok && body) return body;
  throw new ApiError(response.status, body?.error ?? { code: "unreadable", message: response.statusText || "no answer" });
}

async function request(url, options) {
  try {
    return await answer(await fetch(url, options));
  } catch (error) {
    if (error instanceof ApiError || error.name === "AbortError") throw error;
    throw new ApiError(0, { code: "offline", message: error.message });
  }
}

/** GET; `keep: false` for what differs from time to time. */
export async function get(path, params, { signal, keep = true } = {}) {
  const url = address(path, params);
  if (keep && kept.has(url)) return kept.get(url);
  const body = await request(url, { signal });
  if (keep) {
    if (kept.size >= KEPT) kept.delete(kept.keys().next().value);
    kept.set(url, body);
  }
  return body;
}

export const post = (path, body, { signal } = {}) => request(address(path), {
  method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal,
});

/** To be asked again: new tables are ready. */
export const forget = () => kept.clear();
