// Keyboard shortcuts: / search, j k rows, Enter open, x select, c create, g and a letter to navigate,
// i notifications, ? help, Esc close.
let waiting = false;

const rows = () => [...document.querySelectorAll("table.list[data-keys] tbody tr[data-href]")];
const current = () => document.querySelector("table.list tr.is-current");

function move(step) {
  const all = rows();
  if (!all.length) return;
  const at = all.indexOf(current());
  const next = all[Math.min(Math.max(at + step, 0), all.length - 1)];
  current()?.classList.remove("is-current");
  next.classList.add("is-current");
  next.scrollIntoView({ block: "nearest" });
}

// The visible search field of this page, else the global search.
function search() {
  const here = [...document.querySelectorAll("[data-search]")].find((field) =>
    field.checkVisibility(),
  );
  if (here) here.focus();
  else document.querySelector("[data-action=find]")?.click();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    event.target.blur?.();
    document.querySelectorAll("details.menu[open]").forEach((d) => {
      d.open = false;
    });
    return;
  }
  if (event.target.closest("input, textarea, select, [contenteditable], dialog")) return;
  if (waiting) {
    waiting = false;
    const target = document.querySelector(`.rail a[data-key="${CSS.escape(event.key)}"]`);
    if (target) {
      event.preventDefault();
      target.click();
    }
    return;
  }
  const acts = {
    "/": search,
    j: () => move(1),
    k: () => move(-1),
    g: () => {
      waiting = true;
      setTimeout(() => {
        waiting = false;
      }, 1200);
    },
    Enter: () => current() && location.assign(current().dataset.href),
    x: () => current()?.querySelector("input[type=checkbox]")?.click(),
    c: () => document.querySelector("[data-new]")?.click(),
    i: () => document.querySelector("[data-notifications]")?.click(),
    "?": () => document.getElementById("keys")?.showModal(),
  };
  if (event.key === "Enter" && event.target.closest("a, button, summary")) return;
  if (acts[event.key]) {
    event.preventDefault();
    acts[event.key]();
  }
});
