// The page of a session: it is read again until the app is ready or has ended, and what differs is changed in place.
import { keepFocus } from "./focus.js";
import { morph } from "./morph.js";
import { tick } from "./time.js";

const SOON = 1500; // ms between two looks while something changes
const LATER = 15_000;
const root = document.querySelector("[data-session]");

async function look() {
  if (document.visibilityState === "visible") {
    const answer = await fetch(location.href).catch(() => null);
    if (answer?.ok) {
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.querySelector("[data-session]");
      if (fresh) {
        keepFocus(root, () => {
          morph(root, document.adoptNode(fresh.cloneNode(true)));
          root.dataset.changing = fresh.dataset.changing;
          root.dataset.final = fresh.dataset.final;
        });
        tick();
      }
    }
  }
  plan();
}

function plan() {
  if (root.dataset.final !== "true")
    setTimeout(look, root.dataset.changing === "true" ? SOON : LATER);
}
// After Stop and Start again, their button is gone.
if (document.querySelector(".messages")) root.querySelector("h1").focus();
plan();
