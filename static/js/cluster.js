// Pages of clusters: nodes that appear, and the dialog that asks for the reason of a drain.
import "./swap.js";
import { say } from "./words.js";

document.addEventListener("click", (event) => {
  const place = event.target.closest("[data-drain]");
  if (place) ask(place.dataset.drain);
});

// A cluster that was just connected: show its nodes as soon as it has reported them.
document.querySelectorAll("[data-await-nodes]").forEach((place) => {
  const began = Date.now();
  const timer = setInterval(async () => {
    const seconds = Math.round((Date.now() - began) / 1000);
    if (document.hidden) return;
    const got = await fetch(place.dataset.awaitNodes, {
      headers: { Accept: "application/json" },
    }).catch(() => null);
    const found = got?.ok ? (await got.json()).items : [];
    if (found.length) {
      clearInterval(timer);
      location.reload();
    } else if (seconds >= 10)
      place.querySelector("[data-waited]").textContent = say(
        "Still waiting after {n} seconds. Test the connection if this takes longer than a minute.",
        { n: seconds },
      );
  }, 2000);
});

function ask(node) {
  const form = drainForm(node);
  form.closest("dialog").showModal();
  form.elements.reason.focus();
}

// The form of the dialog, for a node.
function drainForm(node) {
  const form = document.querySelector("#drain form");
  form.action = form.dataset.base + encodeURIComponent(node);
  form.querySelector("[data-name]").textContent = node;
  return form;
}
const { node } = document.querySelector("#drain form")?.dataset ?? {};
if (node) drainForm(node);

// A dialog whose form came back with an error.
document
  .querySelectorAll('dialog:has([aria-invalid="true"])')
  .forEach((dialog) => dialog.showModal());
