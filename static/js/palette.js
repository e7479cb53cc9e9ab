// Command palette (Ctrl-K): pages and actions at once, then what the server finds, grouped by kind.
// What was opened last from here comes first.
import { say } from "./words.js";

const RECENT = 6, // shown before anything is typed
  KEPT = 30;
const WAIT = 60; // milliseconds without a key before the server is asked again

// Whether every word is in the title, the note, or the words that stand for it ("add user").
export function matches(item, words) {
  const text = `${item.title} ${item.note ?? ""} ${item.words ?? ""}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

// Put an item first, each once.
export function remembered(recent, item) {
  return [item, ...recent.filter((one) => !isSame(one, item))].slice(0, KEPT);
}

const isSame = (a, b) => (a.url ? a.url === b.url : a.title === b.title);

// Those whose title begins with a typed word first.
export function ranked(items, words) {
  const begins = (item) => words.some((word) => item.title.toLowerCase().startsWith(word));
  return [...items.filter(begins), ...items.filter((item) => !begins(item))];
}

const dialog = globalThis.document?.getElementById("palette");
if (dialog) start(dialog);

function start(dialog) {
  const input = dialog.querySelector("input"),
    list = dialog.querySelector("[role=listbox]"),
    status = dialog.querySelector("[role=status]");
  const fixed = JSON.parse(document.getElementById("palette-items").textContent);
  const store = `palette:${dialog.dataset.url}`;
  let options = [],
    at = 0,
    found = [],
    request = null,
    timer = 0,
    entered = null; // Enter was pressed before anything was found

  const words = () => input.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const kind = (name) => fixed.filter((item) => (item.kind ?? "page") === name);

  function recent() {
    try {
      return JSON.parse(localStorage.getItem(store)) ?? [];
    } catch {
      return [];
    }
  }

  // An action that was used once may since have gone; pages and what was found are just addresses.
  const isStillThere = (one) =>
    one.kind !== "action" || kind("action").some((item) => isSame(item, one));

  function open() {
    if (dialog.open) return;
    input.value = "";
    found = [];
    dialog.showModal();
    show();
  }

  function show() {
    const typed = words();
    const among = (items) =>
      ranked(
        items.filter((item) => matches(item, typed)),
        typed,
      );
    const opened = recent().filter(isStillThere);
    const isOpened = (item) => opened.some((one) => isSame(one, item));
    const rest = (items) => among(items).filter((item) => !isOpened(item));
    const groups = typed.length
      ? [
          { label: say("Recent", { context: "heading" }), items: among(opened).slice(0, 3) },
          { label: say("Actions", { context: "heading" }), items: rest(kind("action")) },
          { label: say("Pages", { context: "heading" }), items: rest(kind("page")) },
          ...found.map((group) => ({ ...group, items: rest(group.items) })),
        ]
      : [
          { label: say("Recent", { context: "heading" }), items: opened.slice(0, RECENT) },
          { label: say("Actions", { context: "heading" }), items: rest(kind("action")) },
          { label: say("Pages", { context: "heading" }), items: rest(kind("page")) },
        ];
    options = [];
    list.replaceChildren(...groups.filter((group) => group.items.length).map(drawn));
    select(0);
    const isEmpty = typed.length > 0 && !options.length && !request && !timer;
    status.textContent = isEmpty
      ? say("No results for “{text}”", { text: input.value.trim() })
      : "";
    status.hidden = !isEmpty;
  }

  function drawn(group) {
    const section = document.createElement("section"),
      head = document.createElement("h3"),
      items = document.createElement("ul");
    head.textContent = group.label;
    section.setAttribute("role", "group");
    section.setAttribute("aria-label", group.label);
    items.setAttribute("role", "presentation");
    items.append(...group.items.map(option));
    section.append(head, items);
    return section;
  }

  function option(item) {
    const row = document.createElement("li"),
      title = document.createElement("span"),
      note = document.createElement("small");
    const i = options.push({ item, row }) - 1;
    row.id = `palette-${i}`;
    row.setAttribute("role", "option");
    title.append(...marked(item.title));
    note.textContent = item.note ?? "";
    row.append(title, note);
    row.addEventListener("click", (event) => go(i, event));
    row.addEventListener("mousemove", () => at !== i && select(i, false));
    return row;
  }

  // The title with the first word that was typed marked in it.
  function marked(title) {
    const word = words().find((one) => title.toLowerCase().includes(one));
    if (!word) return [title];
    const from = title.toLowerCase().indexOf(word);
    const mark = document.createElement("mark");
    mark.textContent = title.slice(from, from + word.length);
    return [title.slice(0, from), mark, title.slice(from + word.length)];
  }

  function select(i, isScrolled = true) {
    at = options.length ? (i + options.length) % options.length : 0;
    options.forEach(({ row }, n) => row.setAttribute("aria-selected", String(n === at)));
    const row = options[at]?.row;
    if (row) input.setAttribute("aria-activedescendant", row.id);
    else input.removeAttribute("aria-activedescendant");
    if (!isScrolled || !row) return;
    if (at === 0) list.scrollTop = 0;
    else row.scrollIntoView({ block: "nearest" });
  }

  function go(i, event) {
    const item = options[i]?.item;
    if (!item) return;
    try {
      localStorage.setItem(store, JSON.stringify(remembered(recent(), item)));
    } catch {
      // Nothing is remembered where storage is refused.
    }
    if (item.text) search(`${item.text} `);
    else if (!item.url) setTheme(item.theme);
    else if (event.ctrlKey || event.metaKey) window.open(item.url);
    else location.assign(item.url);
  }

  // An action that needs a node is typed before its name.
  function search(text) {
    input.value = text;
    input.focus();
    input.dispatchEvent(new Event("input"));
  }

  function setTheme(theme) {
    dialog.close();
    document.querySelector(`[data-theme-choice="${theme}"]`).click();
  }

  async function ask() {
    timer = 0;
    request?.abort();
    const mine = (request = new AbortController());
    try {
      const answer = await fetch(
        `${dialog.dataset.url}?q=${encodeURIComponent(input.value.trim())}`,
        { signal: mine.signal },
      );
      if (answer.ok) found = (await answer.json()).groups;
    } catch {
      return; // A newer request replaced this one, or the connection is gone, which the page says.
    } finally {
      if (request === mine) request = null;
    }
    show();
    if (entered) go(at, entered);
    entered = null;
  }

  input.addEventListener("input", () => {
    clearTimeout(timer);
    entered = null;
    if (words().length) timer = setTimeout(ask, request ? WAIT : 0);
    else {
      request?.abort();
      request = null;
      timer = 0;
      found = [];
    }
    show();
  });
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) select(at + step);
    else if (event.key === "Escape") dialog.close();
    else if (event.key !== "Enter") return;
    else if (options.length) go(at, event);
    else if (timer || request) entered = event;
    event.preventDefault();
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  document.addEventListener("keydown", (event) => {
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      open();
    }
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-action=find]")) open();
  });
}
