// The filter bar of a list: suggestions in the search box, menus of values, the column chooser, and
// saved views.
import { say } from "./words.js";

const YEAR = 31_536_000;

// Split the text before the caret: the part that is being typed, its key and its value.
export function typedAt(text, caret) {
  const [part] = text.slice(0, caret).match(/(?:"[^"]*"?|[^\s"])*$/),
    match = part.match(/^(-?)([a-z_-]+):(.*)$/s);
  if (!match) return { from: caret - part.length, sign: "", key: null, value: part };
  const values = match[3].split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/),
    value = values.at(-1);
  return {
    from: caret - value.length,
    sign: match[1],
    key: match[2],
    value: value.replace(/^"/, ""),
  };
}

// What to suggest: the values of the key, or the keys, that have what is typed in them.
export function suggested(keys, typed) {
  const has = (text) => text.toLowerCase().includes(typed.value.toLowerCase().replace(/^-/, ""));
  if (typed.key === null)
    return keys
      .filter(({ key }) => has(key))
      .map(({ key, help }) => ({
        text: `${typed.value.startsWith("-") ? "-" : ""}${key}:`,
        note: help,
        isKey: true,
      }));
  const found = keys.find(({ key, aliases }) => key === typed.key || aliases.includes(typed.key));
  return (found?.values ?? [])
    .filter(([value, label]) => has(value) || has(label))
    .map(([value, label]) => ({ text: quoted(value), note: label === value ? "" : label }));
}

const quoted = (value) =>
  /[\s,]|^["!]/.test(value) ? `"${value.replace(/[\\"]/g, "\\$&")}"` : value;

// Suggest below an input. `load` returns what `find` searches for the text before the caret, which
// returns {from, items: [{text, note, isKey}]}; a key is followed by its value.
export function suggestions(input, load, find) {
  const list = document.createElement("ul");
  let known = null,
    items = [],
    from = 0,
    at = -1;
  list.className = "suggestions";
  list.id = "suggestions";
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", say("Suggestions", { context: "spoken label" }));
  input.after(list);
  for (const [name, value] of [
    ["role", "combobox"],
    ["aria-expanded", "false"],
    ["aria-autocomplete", "list"],
    ["aria-controls", list.id],
  ])
    input.setAttribute(name, value);

  async function begin() {
    if (known) return;
    known = [];
    known = await load();
    if (document.activeElement === input) show();
  }

  function show() {
    ({ from, items } = find(known, input.value, input.selectionStart));
    items = items.slice(0, 12);
    at = -1;
    list.replaceChildren(...items.map(row));
    list.hidden = !items.length;
    input.setAttribute("aria-expanded", String(!list.hidden));
    input.removeAttribute("aria-activedescendant");
  }

  function row(item, i) {
    const option = document.createElement("li"),
      note = document.createElement("small");
    option.id = `suggestion-${i}`;
    option.setAttribute("role", "option");
    note.textContent = item.note;
    option.append(item.text, note);
    option.addEventListener("mousedown", (event) => {
      event.preventDefault();
      take(item);
    });
    return option;
  }

  function select(step) {
    at = (at + step + items.length) % items.length;
    [...list.children].forEach((option, i) =>
      option.setAttribute("aria-selected", String(i === at)),
    );
    list.children[at].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", list.children[at].id);
  }

  function take(item) {
    const caret = input.selectionStart;
    ({ from } = find(known, input.value, caret));
    const text = item.isKey ? item.text : `${item.text} `;
    input.value = input.value.slice(0, from) + text + input.value.slice(caret).trimStart();
    input.setSelectionRange(from + text.length, from + text.length);
    show();
  }

  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
  };
  input.addEventListener("focus", async () => {
    await begin();
    show();
  });
  input.addEventListener("input", show);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (list.hidden) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) select(step);
    else if ((event.key === "Enter" || event.key === "Tab") && at >= 0) take(items[at]);
    else if (event.key === "Escape") {
      close();
      event.stopPropagation();
    } else return;
    event.preventDefault();
  });
}

// The menu of a filter asks for its values, with the number of rows of each, when it is opened.
function values(menu) {
  const sheet = menu.querySelector(".sheet");
  menu.addEventListener("toggle", async () => {
    if (!menu.open || sheet.querySelector("ul, form")) return;
    const url = new URL(location.href);
    url.searchParams.delete("query");
    url.searchParams.set("format", "values");
    url.searchParams.set("filter", menu.dataset.values);
    const help = sheet.querySelector("p");
    try {
      const { items } = await (await fetch(url)).json();
      help.remove();
      sheet.append(...drawn(items));
      if (menu.open) sheet.querySelector("input")?.focus();
    } catch {
      help.textContent = say("Could not load. Open the menu again.");
    }
  });
}

function drawn(items) {
  const list = document.createElement("ul");
  list.append(...items.map(valueRow));
  if (!items.length)
    list.append(
      Object.assign(document.createElement("li"), {
        className: "muted small",
        textContent: say("No values", { context: "text, list" }),
      }),
    );
  if (items.length <= 8) return [list];
  const find = Object.assign(document.createElement("input"), {
    type: "search",
    placeholder: say("Search values", { context: "placeholder" }),
  });
  find.setAttribute("aria-label", say("Search values", { context: "spoken label" }));
  find.addEventListener("input", () => {
    const wanted = find.value.trim().toLowerCase();
    for (const row of list.children) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
  return [find, list];
}

function valueRow({ label, note, url, is_set, count }) {
  const row = document.createElement("li"),
    link = document.createElement("a");
  link.href = url;
  if (is_set) link.setAttribute("aria-current", "true");
  link.append(label);
  if (note) {
    const small = document.createElement("small");
    small.textContent = note;
    link.append(small);
  }
  if (count !== null) {
    const number = document.createElement("span");
    number.className = "count";
    number.textContent = count > 999 ? "999+" : String(count);
    link.append(number);
  }
  row.append(link);
  return row;
}

// The columns that were chosen are kept in a cookie too, so that the first page already has them.
function columns(form) {
  const boxes = [...form.querySelectorAll("[name=columns]")];
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const picked = boxes.filter((box) => box.checked).map((box) => box.value);
    const isDefault =
      !picked.length || boxes.every((box) => box.checked === box.hasAttribute("data-default"));
    const value = isDefault ? "" : picked.join(",");
    const path = form.dataset.path ? location.pathname : "/";
    document.cookie = `muster_columns_${form.dataset.columns}=${value}; path=${path}; samesite=lax; max-age=${value ? YEAR : 0}`;
    const url = new URL(location.href);
    url.searchParams.delete("cursor");
    if (value) url.searchParams.set("columns", value);
    else url.searchParams.delete("columns");
    location.assign(url.href.replaceAll("%2C", ","));
  });
  form.querySelector("[data-finds-column]")?.addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    for (const label of form.querySelectorAll("label.check"))
      label.hidden = !label.textContent.toLowerCase().includes(wanted);
  });
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    for (const box of boxes) box.checked = box.hasAttribute("data-default");
    form.requestSubmit();
  });
}

// Views are named filters, columns and orders of a list, kept by this browser.
function views(menu) {
  const list = menu.querySelector("ul"),
    form = menu.querySelector("form"),
    store = `views:${location.pathname}`;
  const saved = () => {
    try {
      return JSON.parse(localStorage.getItem(store)) ?? [];
    } catch {
      return [];
    }
  };

  function show() {
    list.replaceChildren(
      ...saved().map(({ name, query }) => {
        const item = document.createElement("li"),
          link = document.createElement("a"),
          remove = document.createElement("button");
        link.href = query || "?";
        link.textContent = name;
        remove.type = "button";
        remove.textContent = "×";
        remove.setAttribute(
          "aria-label",
          say("Delete the view {name}", { context: "spoken label", name }),
        );
        remove.addEventListener("click", () => keep(saved().filter((one) => one.name !== name)));
        item.append(link, remove);
        return item;
      }),
    );
  }

  function keep(all) {
    localStorage.setItem(store, JSON.stringify(all));
    show();
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const name = form.elements.name.value.trim();
    const url = new URL(location.href);
    url.searchParams.delete("cursor");
    if (name) keep([...saved().filter((one) => one.name !== name), { name, query: url.search }]);
    form.reset();
  });
  menu.hidden = false;
  show();
}

if (globalThis.document) {
  for (const input of document.querySelectorAll("[data-language]"))
    suggestions(
      input,
      async () => {
        const answer = await fetch("?format=keys");
        return answer.ok ? (await answer.json()).keys : [];
      },
      (keys, text, caret) => {
        const typed = typedAt(text, caret);
        return { from: typed.from, items: suggested(keys, typed) };
      },
    );
  for (const menu of document.querySelectorAll("[data-values]")) values(menu);
  for (const form of document.querySelectorAll("[data-columns]")) columns(form);
  for (const menu of document.querySelectorAll("[data-views]")) views(menu);
}
