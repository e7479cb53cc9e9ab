// Links marked data-drawer open the page that they lead to in a drawer: its [data-drawer-body].
// Its tabs, filters and pages stay in the drawer. A new tab, or a browser without this module, opens
// the page itself.
import { parsed } from "./swap.js";
import { say } from "./words.js";

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-drawer]");
  const wantsTab = event.metaKey || event.ctrlKey || event.shiftKey || event.button;
  if (!link || wantsTab) return;
  event.preventDefault();
  open(link);
});

async function open(link) {
  const dialog = made(link.dataset.drawer || link.textContent.trim(), link.href);
  let shown = link.href;
  const show = (url) => {
    shown = url;
    return fill(dialog, url);
  };
  const isOwn = (url) => new URL(url).pathname === link.pathname;
  dialog.addEventListener("refresh", () => fill(dialog, shown, true));
  dialog.addEventListener("click", (event) => {
    const inner = event.target.closest(".body a[href]");
    if (!inner || !isOwn(inner.href) || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    show(inner.href);
  });
  dialog.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "get" || !isOwn(form.action)) return;
    event.preventDefault();
    show(`${link.pathname}?${new URLSearchParams(new FormData(form))}`);
  });
  dialog.addEventListener("close", () => {
    dialog.remove();
    const again = link.isConnected
      ? link
      : document.querySelector(`a[href="${link.getAttribute("href")}"]`);
    again?.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
  await show(link.href);
}

// `isAnswer`: a form of the drawer was sent, and the page below has the messages.
async function fill(dialog, url, isAnswer = false) {
  try {
    const body = (await parsed(await fetch(url))).querySelector("[data-drawer-body]");
    if (!body) throw new Error("no drawer");
    const messages = isAnswer ? document.querySelector("#content > .messages") : null;
    dialog.querySelector(".body").replaceChildren(...(messages ? [messages] : []), body);
    refocus(dialog);
  } catch {
    location.assign(url);
  }
}

// What had the focus was replaced: go to what it has become, else to the current tab.
function refocus(dialog) {
  if (dialog.contains(document.activeElement)) return;
  const same = `[data-focus="${CSS.escape(dialog.dataset.refocus || "-")}"]`;
  const at = dialog.querySelector(same) ?? dialog.querySelector(".body [aria-current]");
  (at ?? dialog.querySelector("[data-action=close-dialog]")).focus();
}

function made(title, url) {
  const dialog = Object.assign(document.createElement("dialog"), { className: "modal drawer" });
  dialog.setAttribute("aria-label", title);
  const head = document.createElement("header");
  const name = Object.assign(document.createElement("h2"), { textContent: title });
  const whole = Object.assign(document.createElement("a"), {
    className: "btn plain small push",
    href: url,
    textContent: say("Open page", { context: "text, drawer" }),
  });
  const close = Object.assign(document.createElement("button"), {
    className: "btn plain small",
    type: "button",
    textContent: "×",
  });
  close.dataset.action = "close-dialog";
  close.setAttribute("aria-label", say("Close", { context: "spoken label" }));
  head.append(name, whole, close);
  const body = Object.assign(document.createElement("div"), { className: "body stack" });
  dialog.append(head, body);
  return dialog;
}
