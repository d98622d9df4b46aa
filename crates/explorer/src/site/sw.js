// Keeps the files of the page, so that it works without a network after the first visit. A new version waits until no
// tab shows the old one.

// packaging/site writes both.
const VERSION = "";
const FILES = [];

const SCOPE = `doushouqi ${registration.scope} `;
const CACHE = SCOPE + VERSION;

addEventListener("install", (event) => {
  const fresh = FILES.map((file) => new Request(file, { cache: "reload" }));
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(fresh)));
});

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
