// Offers a new version of a page without a server, which starts when the user agrees, or when no tab shows the old one.

import { hasServer, workerSettled } from "./transport.js";
import { $, button, t } from "./ui.js";

export function startUpdates() {
  const { serviceWorker } = navigator;
  if (hasServer || !serviceWorker) return;
  // What the page needs to answer comes first: the service worker loads all files, at best from the browser's cache.
  workerSettled.then(() => serviceWorker.register("sw.js")).then(watch, () => undefined);
}

/**
 * @param {ServiceWorkerRegistration} registration
 */
function watch(registration) {
  const look = () => {
    // The first version of all controls no page before it is loaded again.
    if (registration.waiting && navigator.serviceWorker.controller) offer(registration.waiting);
  };
  look();
  registration.addEventListener("updatefound", () => registration.installing?.addEventListener("statechange", look));
}

/**
 * @param {ServiceWorker} version
 */
function offer(version) {
  const start = () => {
    navigator.serviceWorker.addEventListener("controllerchange", () => location.reload(), { once: true });
    version.postMessage("start");
  };
  $("#update").replaceChildren(t("update.ready"), " ", button(t("update.start"), start, { id: "updatestart" }));
  $("#update").hidden = false;
}
