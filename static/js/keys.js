// Keyboard shortcuts: / search, j k rows, Enter open, x select, c create, g and a letter to navigate,
// i notifications, ? help, Esc close.
import { focusOn, rowsOf } from "./focus.js";

let waiting = false;

const current = () => document.activeElement?.closest("table.list tbody tr");

// j and k move the focus; from elsewhere, they begin at the first row that can be seen.
function move(step) {
  const rows = rowsOf(document.querySelector("dialog.drawer[open]") ?? document);
  if (!rows.length) return;
  const at = rows.indexOf(current());
  const first = rows.findIndex((row) => row.getBoundingClientRect().bottom > 120);
  const next = at < 0 ? Math.max(first, 0) : Math.min(Math.max(at + step, 0), rows.length - 1);
  focusOn(rows[next], { preventScroll: true });
  rows[next].scrollIntoView({ block: "nearest" });
}

function openRow() {
  const row = current();
  if (row?.dataset.href) location.assign(row.dataset.href);
  else row?.querySelector("a[href]")?.click();
}

// The visible search field of this page, else the global search.
function search() {
  const here = [...document.querySelectorAll("[data-search]")].find((field) =>
    field.checkVisibility(),
  );
  if (here) here.focus();
  else document.querySelector("[data-action=find]")?.click();
}

// Leave a field or a row; a menu closes and its button has the focus again.
function leave(target) {
  const menus = document.querySelectorAll("details.menu[open]");
  for (const menu of menus) {
    menu.open = false;
    if (menu.contains(target)) menu.querySelector("summary").focus();
  }
  if (!menus.length) target.blur?.();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { target, key } = event;
  if (key === "Escape") {
    if (!target.closest("dialog")) leave(target);
    return;
  }
  const isTyped = target.closest("textarea, select, [contenteditable]");
  if (isTyped || target.closest("input:not([type=checkbox], [type=radio])")) return;
  const isInDrawer = target.closest("dialog.drawer");
  if (target.closest("dialog") && !isInDrawer) return;
  if (waiting) {
    waiting = false;
    const link = document.querySelector(`.rail a[data-key="${CSS.escape(key)}"]`);
    if (link) {
      event.preventDefault();
      link.click();
    }
    return;
  }
  const inList = {
    j: () => move(1),
    k: () => move(-1),
    Enter: openRow,
    x: () => current()?.querySelector("input[type=checkbox]")?.click(),
  };
  const onPage = {
    "/": search,
    g: () => {
      waiting = true;
      setTimeout(() => {
        waiting = false;
      }, 1200);
    },
    c: () => document.querySelector("[data-new]")?.click(),
    i: () => document.querySelector("[data-notifications]")?.click(),
    "?": () => document.getElementById("keys")?.showModal(),
  };
  // A control has its own Enter; a row that opens in place, too.
  if (key === "Enter" && !target.matches("tr:not(.opener)")) return;
  const act = isInDrawer ? inList[key] : { ...inList, ...onPage }[key];
  if (!act) return;
  event.preventDefault();
  act();
});
