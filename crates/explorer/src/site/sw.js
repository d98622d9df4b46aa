// Keeps the files of the page, so that it works without a network after the first visit. A new version waits until no
// tab shows the old one.

// The site's writer fills in both.
const VERSION = "";
const FILES = [];

const SCOPE = `doushouqi ${registration.scope} `;
const CACHE = SCOPE + VERSION;

addEventListener("install", (event) => event.waitUntil(keep()));

async function keep() {
  const cache = await caches.open(CACHE);
  await Promise.all(FILES.map(async (file) => cache.put(file, await fresh(file))));
}

/**
 * @param {string} file
 */
async function fresh(file) {
  // What has a hash in its name never changes: an older version, or the browser since the page's start, may have it.
  const isHashed = /\.[0-9a-f]{16}\./.test(file);
  const found = isHashed && (await caches.match(file));
  const response = found || (await fetch(file, { cache: isHashed ? "default" : "no-cache" }));
  if (!response.ok) throw new TypeError(`${file}: ${response.status}`);
  return response;
}

addEventListener("activate", (event) => {
  const isOld = (name) => name.startsWith(SCOPE) && name !== CACHE;
  event.waitUntil(caches.keys().then((names) => Promise.all(names.filter(isOld).map((name) => caches.delete(name)))));
});

// The user agrees to a new version.
addEventListener("message", ({ data }) => {
  if (data === "start") skipWaiting();
});

addEventListener("fetch", (event) => {
  if (event.request.method !== "GET") return;
  // The page reads its query itself.
  const kept = caches.open(CACHE).then((cache) => cache.match(event.request, { ignoreSearch: true }));
  event.respondWith(kept.then((found) => found ?? fetch(event.request)));
});
