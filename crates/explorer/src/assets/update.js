// Offers a new version of a page without a server, which starts when the user agrees, or when no tab shows the old one.

import { hasServer, workerSettled } from "./transport.js";
import { $, button, t } from "./ui.js";

export function startUpdates() {
  const { serviceWorker } = navigator;
  if (hasServer || !serviceWorker) return;
  // What the page needs to answer comes first: the service worker loads all files, at best from the browser's cache.
  workerSettled.then(() => serviceWorker.register("sw.js")).then(watch, () => undefined);
}

/** @param {ServiceWorkerRegistration} registration */
function watch(registration) {
  let started = false;
  const start = () => {
    started = true;
    // Without a version that waits, another tab has started it.
    if (registration.waiting) registration.waiting.postMessage("start");
    else location.reload();
  };
  const offer = () => {
    $("#update").replaceChildren(t("update.ready"), " ", button(t("update.start"), start, { id: "updatestart" }));
    $("#update").hidden = false;
  };
  const look = () => {
    // The first version of all controls no page before it is loaded again.
    if (registration.waiting && navigator.serviceWorker.controller) offer();
  };
  const follow = () => registration.installing?.addEventListener("statechange", look);
  look();
  follow();
  registration.addEventListener("updatefound", follow);
  navigator.serviceWorker.addEventListener("controllerchange", () => (started ? location.reload() : offer()));
}
