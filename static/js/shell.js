// Behaviour of every page: theme, menus, copy buttons, relative times, palette and shortcuts.
import "./ask.js";
import "./dialogs.js";
import "./time.js";
import "./focus.js";
import "./palette.js";
import "./keys.js";
import "./faults.js";
import "./unread-notifications.js";
import { say } from "./words.js";

const html = document.documentElement;
const sent = []; // buttons disabled against a second submission

document.addEventListener("click", (event) => {
  const on = (what) => event.target.closest(`[data-action="${what}"]`);
  if (on("theme")) setTheme(on("theme").dataset.themeChoice);
  else if (on("rail")) document.querySelector(".rail").classList.toggle("is-open");
  else if (on("close"))
    on("close")
      .closest(on("close").dataset.target ?? ".note")
      .remove();
  else if (on("copy")) copy(on("copy"));
  if (!event.target.closest(".rail, [data-action=rail]"))
    document.querySelector(".rail")?.classList.remove("is-open");
  document.querySelectorAll("details.menu[open]").forEach((menu) => {
    if (!menu.contains(event.target)) menu.open = false;
  });
});

// "" follows the system.
function setTheme(choice) {
  if (choice) html.dataset.theme = choice;
  else delete html.dataset.theme;
  if (choice) localStorage.setItem("theme", choice);
  else localStorage.removeItem("theme");
  markTheme();
  document.dispatchEvent(new Event("themechange"));
}

function markTheme() {
  for (const button of document.querySelectorAll("[data-theme-choice]"))
    button.setAttribute(
      "aria-pressed",
      String(button.dataset.themeChoice === (html.dataset.theme ?? "")),
    );
}
markTheme();

// Breadcrumbs lead back to a list with the filters that it had.
if (document.querySelector("form.filters"))
  sessionStorage.setItem(`list:${location.pathname}`, location.search);
for (const link of document.querySelectorAll(".crumbs a:not([href*='?'])")) {
  const kept = sessionStorage.getItem(`list:${link.getAttribute("href")}`);
  if (kept) link.search = kept;
}

async function copy(button) {
  const place = button.closest(".copy")?.querySelector("pre, code");
  const text = (button.dataset.text ?? place.textContent).trim();
  const label = button.querySelector("span") ?? button;
  button.dataset.label ??= label.textContent; // a second click finds "Copied"
  label.textContent = (await copied(text))
    ? say("Copied", { context: "text, shell" })
    : say("Press Ctrl-C", { context: "text, shell" });
  setTimeout(() => {
    label.textContent = button.dataset.label;
  }, 1200);
}

// Browsers offer the clipboard to secure pages only; a portal at http://10.0.0.5 has the old way.
async function copied(text) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return true;
  }
  const before = document.activeElement;
  const area = Object.assign(document.createElement("textarea"), { value: text, readOnly: true });
  area.className = "visually-hidden";
  (before?.closest("dialog") ?? document.body).append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  before?.focus();
  return isCopied;
}

// Scroll the current tab into view.
for (const tab of document.querySelectorAll('.tabs [aria-selected="true"], .tabs [aria-current]')) {
  const row = tab.closest(".tabs");
  if (tab.offsetLeft + tab.offsetWidth > row.offsetLeft + row.clientWidth)
    row.scrollLeft = tab.offsetLeft - row.offsetLeft - 24;
}

document.addEventListener("submit", (event) => {
  if (event.defaultPrevented) return;
  const form = event.target;
  if (form.method !== "post") return;
  setTimeout(() =>
    form.querySelectorAll("button:enabled").forEach((button) => {
      button.disabled = true;
      sent.push(button);
    }),
  );
});
// A page that the browser kept is shown again.
window.addEventListener("pageshow", () =>
  sent.splice(0).forEach((button) => {
    button.disabled = false;
  }),
);
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-autosubmit]")) event.target.form.requestSubmit();
});
