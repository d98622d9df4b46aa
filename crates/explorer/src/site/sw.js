// Keeps the files of the page, so that it works without a network after the first visit. A new version waits until no
// tab shows the old one.

// The site's writer fills in both: each file with the SHA-256 of its content, and the page with a text in it.
const VERSION = "";
const FILES = {};

const SCOPE = `doushouqi ${registration.scope} `;
const CACHE = SCOPE + VERSION;

addEventListener("install", (event) => event.waitUntil(keep()));

/** Keeps all files or none. A host may lack files of this version and send another content in their place. */
async function keep() {
  const cache = await caches.open(CACHE);
  try {
    // One after the other, so that on a slow network what the page waits for meanwhile comes first.
    for (const [file, mark] of Object.entries(FILES)) await cache.put(file, await intact(file, mark));
  } catch (error) {
    await caches.delete(CACHE);
    throw error;
  }
}

/**
 * @param {string} file
 * @param {string} mark
 */
async function intact(file, mark) {
  // What has a hash in its name never changes: an older version, or the browser since the page's start, may have it.
  const isHashed = /\.[0-9a-f]{16}\./.test(file);
  const sources = [
    () => (isHashed ? caches.match(file) : undefined),
    () => fetch(file, { cache: isHashed ? "default" : "no-cache" }),
    () => fetch(file, { cache: "reload" }),
  ];
  for (const source of sources) {
    const response = await source();
    if (response?.ok && (await isOf(response.clone(), file, mark))) return response;
  }
  throw new TypeError(`${file} is not that of this version`);
}

/**
 * Whether a response is the file of this version. A host may add to the page, which names its other files.
 * @param {Response} response
 * @param {string} file
 * @param {string} mark
 */
async function isOf(response, file, mark) {
  if (file === "./") {
    const text = await response.text();
    return text.includes(mark) && text.includes("</html>");
  }
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await response.arrayBuffer()));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("") === mark;
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
