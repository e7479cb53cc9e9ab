// Forms marked data-swap are sent in the background, and the page that answers replaces the content
// of this one. Scroll position, focus and an open drawer stay. Without this module they reload the page.
import { keepFocus } from "./focus.js";
import { say } from "./words.js";

document.addEventListener(
  "submit",
  (event) => {
    const form = event.target;
    if (!form.matches("[data-swap]") || event.defaultPrevented) return;
    // An undo may end on another page: fetch would follow to it and use up its message.
    const isUndo = form.matches(".messages .undo");
    if (isUndo && new URL(form.action).pathname !== location.pathname) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    send(form, event.submitter);
  },
  true,
);

async function send(form, button) {
  const drawer = form.closest("dialog.drawer");
  const active = document.activeElement;
  const body = new FormData(form, button); // before the button is disabled, or it is left out
  if (drawer) body.set("back", location.pathname + location.search); // the page below the drawer
  if (button) button.disabled = true;
  try {
    const got = await fetch(form.action, { method: "POST", body });
    const page = await parsed(got);
    if (new URL(got.url).pathname !== location.pathname) {
      location.assign(got.url); // a page without this content, such as sign-in
      return;
    }
    replace(page);
    if (!drawer?.isConnected) return;
    drawer.dataset.refocus = active?.closest("[data-focus]")?.dataset.focus ?? "";
    drawer.dispatchEvent(new Event("refresh"));
  } catch {
    if (button) button.disabled = false;
    showFailure(form);
  }
}

// Fetch answers are whole pages.
export async function parsed(answer) {
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

function replace(page) {
  const content = document.getElementById("content");
  keepFocus(content, () => content.replaceChildren(...page.getElementById("content").childNodes));
  // The answer is seen wherever the reader has scrolled to.
  const messages = content.querySelector(":scope > .messages");
  messages?.classList.toggle("is-sticky", messages.getBoundingClientRect().top < 0);
  document.dispatchEvent(new Event("swapped"));
}

function showFailure(form) {
  const note = Object.assign(document.createElement("p"), {
    className: "note bad",
    role: "alert",
    textContent: say("The portal didn't answer. Try again."),
  });
  form.after(note);
  setTimeout(() => note.remove(), 8000);
}
