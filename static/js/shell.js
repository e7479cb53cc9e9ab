// Behaviour of every page: theme, menus, copy buttons, relative times, palette and shortcuts.
import "./ask.js";
import "./time.js";
import "./palette.js";
import "./keys.js";
import "./faults.js";
import { say } from "./words.js";

const html = document.documentElement;

document.addEventListener("click", (event) => {
  const on = (what) => event.target.closest(`[data-action="${what}"]`);
  if (on("theme")) {
    const dark = html.dataset.theme
      ? html.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    html.dataset.theme = dark ? "light" : "dark";
    localStorage.setItem("theme", html.dataset.theme);
    document.dispatchEvent(new Event("themechange"));
  } else if (on("rail")) document.querySelector(".rail").classList.toggle("is-open");
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

async function copy(button) {
  const source =
    button.dataset.text ?? button.closest(".copy").querySelector("pre, code, input").textContent;
  await navigator.clipboard.writeText(source.trim());
  const before = button.textContent;
  button.textContent = say("Copied");
  setTimeout(() => {
    button.textContent = before;
  }, 1200);
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
  if (form.method === "post")
    setTimeout(() =>
      form.querySelectorAll("button").forEach((b) => {
        b.disabled = true;
      }),
    );
});
window.addEventListener("pageshow", () =>
  document.querySelectorAll("form button[disabled]").forEach((b) => {
    b.disabled = false;
  }),
);
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-autosubmit]")) event.target.form.requestSubmit();
});
