// The service worker of a server, whose page needs none: it replaces that of a page without a server (sw.js) which was
// at this address before, and removes itself with all that was kept.

addEventListener("install", () => skipWaiting());

addEventListener("activate", (event) => event.waitUntil(leave()));

async function leave() {
  const names = (await caches.keys()).filter((name) => name.startsWith("doushouqi "));
  await Promise.all(names.map((name) => caches.delete(name)));
  await registration.unregister();
  for (const page of await clients.matchAll({ type: "window" })) page.navigate(page.url);
}
