// Runs of an experiment: completion of the filter, live values, pins, and a table that follows the
// running ones.
import { suggestions } from "./list.js";
import { keepFocus } from "./focus.js";
import { live } from "./live.js";
import { chosen, showSelection } from "./select.js";
import { metric } from "./metric.js";
import { tick } from "./time.js";
import { say } from "./words.js";

const MOST = 40; // running runs of a page whose values are live
const EVERY = 10_000; // ms between updates of the states of running runs
const YEAR = 31_536_000;
const PINS = "muster_pins";
const COMPARISONS = ["=", "!=", ">", "<", ">=", "<=", "LIKE", "ILIKE"];

// What is being typed before the caret: {from, kind: "key" | "comparison" | "value" | "next", key, text}.
export function typedBefore(text, caret) {
  const before = text.slice(0, caret);
  const start = before.search(/(?:^|\band\s+)(?:(?!\band\s).)*$/i);
  const clause = before.slice(Math.max(start, 0)).replace(/^and\s+/i, "");
  const offset = caret - clause.length;
  const found = clause.match(
    /^\s*([\w.]*(?:`[^`]*`|[\w./-]*))(\s+)?(!=|>=|<=|=|>|<|i?like\b)?(\s*)(.*)$/is,
  );
  if (!found) return null;
  const [, key, gap, comparison, , value] = found;
  if (comparison) {
    const isDone = /^("[^"]*"|'[^']*'|[\d.eE+-]+)\s+$/.test(value);
    if (isDone) return { from: caret, kind: "next", key, text: "" };
    return { from: caret - value.length, kind: "value", key, text: value.replace(/^["']/, "") };
  }
  if (gap) return { from: caret - (value?.length ?? 0), kind: "comparison", key, text: value };
  return { from: offset + clause.search(/\S|$/), kind: "key", key, text: key };
}

// What to suggest for it: keys, comparisons, values, or "and".
export function completions(terms, text, caret) {
  const typed = typedBefore(text, caret);
  if (!typed) return { from: caret, items: [] };
  const wanted = typed.text.toLowerCase();
  const item = (value, note = "") => ({ text: value, note });
  const plain = (key) => key.replaceAll("`", "");
  if (typed.kind === "next") return { from: typed.from, items: [item("and")] };
  if (typed.kind === "comparison") {
    const isNumber = typed.key.startsWith("metrics.");
    return {
      from: typed.from,
      items: COMPARISONS.filter((c) => !isNumber || !/like/i.test(c)).map((c) => item(c)),
    };
  }
  if (typed.kind === "value") {
    const known = terms.find(({ name }) => name === plain(typed.key))?.values ?? [];
    return {
      from: typed.from,
      items: known
        .filter((value) => value.toLowerCase().includes(wanted) && !value.includes('"'))
        .map((value) => item(`"${value}"`)),
    };
  }
  return {
    from: typed.from,
    items: terms
      .filter(({ name }) => name.toLowerCase().includes(plain(wanted)))
      .map(({ name, values }) => item(quoted(name), values.slice(0, 3).join(", "))),
  };
}

// Names with other characters than these need backticks: params.`learning rate`.
function quoted(name) {
  const [kind, ...rest] = name.split(".");
  const key = rest.join(".");
  return /^[\w.]+$/.test(key) ? name : `${kind}.\`${key}\``;
}

const pins = () =>
  (document.cookie.match(new RegExp(`(?:^|; )${PINS}=([^;]*)`))?.[1] ?? "")
    .split(".")
    .filter(Boolean);

function start(root) {
  let isDrawing = false;
  let unsubscribe = [];

  // The values of running runs change in their cells.
  function follow() {
    unsubscribe.forEach((stop) => stop());
    unsubscribe = [...root.querySelectorAll("tr[data-topic]")].slice(0, MOST).map((row) =>
      live().subscribe(row.dataset.topic, {
        start: () => (root.dataset.following = "true"),
        event: ({ values }) => {
          for (const [name, value] of Object.entries(values)) {
            const cell = row.querySelector(`[data-metric="${CSS.escape(name)}"]`);
            if (cell) {
              cell.textContent = metric(value);
              cell.classList.remove("skip");
            }
          }
        },
      }),
    );
  }

  async function refresh() {
    if (isDrawing) return;
    isDrawing = true;
    try {
      const answer = await fetch(location.href, { headers: { "HX-Request": "true" } });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const body = page.querySelector("[data-runs]");
      if (!body) return;
      const kept = new Set(chosen().map((box) => box.value));
      keepFocus(root, () => root.replaceChildren(...body.childNodes));
      root.dataset.live = body.dataset.live;
      for (const box of root.querySelectorAll("input[name=run]")) box.checked = kept.has(box.value);
      tick(root);
      showSelection();
      follow();
      mark();
    } finally {
      isDrawing = false;
    }
  }

  // Pinned runs stay at the top of the table, in this browser.
  function mark() {
    const known = pins();
    const picked = chosen().map((box) => box.value);
    const button = document.querySelector("[data-pin]");
    if (button)
      button.textContent =
        picked.length && picked.every((id) => known.includes(id))
          ? say("Unpin", { context: "button" })
          : say("Pin", { context: "button" });
  }

  document.querySelector("[data-pin]")?.addEventListener("click", () => {
    const picked = chosen().map((box) => box.value);
    const known = pins();
    const isPinned = picked.every((id) => known.includes(id));
    const kept = isPinned
      ? known.filter((id) => !picked.includes(id))
      : [...new Set([...known, ...picked])].slice(-20);
    document.cookie = `${PINS}=${kept.join(".")}; path=${location.pathname}; samesite=lax; max-age=${kept.length ? YEAR : 0}`;
    for (const box of chosen()) box.checked = false;
    refresh();
  });
  document.addEventListener("change", mark);
  document.addEventListener("click", () => setTimeout(mark));

  follow();
  if (!root.querySelector("[data-charts]"))
    setInterval(() => {
      const isWanted = root.dataset.live === "true" && document.visibilityState === "visible";
      if (isWanted && !chosen().length) refresh();
    }, EVERY);
}

if (globalThis.document) {
  for (const input of document.querySelectorAll("[data-expression]"))
    suggestions(
      input,
      async () => {
        const answer = await fetch("?format=terms");
        return answer.ok ? (await answer.json()).terms : [];
      },
      completions,
    );
  const root = document.querySelector("[data-runs]");
  if (root) start(root);
}
