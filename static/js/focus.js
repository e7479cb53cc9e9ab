// Focus and scroll position are kept: after Back and a reload, after a link or a form that changes the
// list of this page, and where a part of the page is replaced (`keepFocus`).

const FRESH = 15_000; // milliseconds in which a followed link arrives
const FOCUSABLE =
  "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]";

const menuOf = (element) => element.closest("details.menu");

// A description by which the element is found in another version of the page.
export function placeOf(element) {
  if (!element || element === document.body) return null;
  const row = element.closest("tr[data-href]");
  const scope = row ? `tr[data-href="${CSS.escape(row.dataset.href)}"]` : "";
  // A link in a menu, which is closed in the other version, is found by the button of the menu.
  const named = element.closest("[data-focus]") ?? menuOf(element)?.querySelector("[data-focus]");
  if (named) return { selector: `${scope} [data-focus="${CSS.escape(named.dataset.focus)}"]` };
  if (element === row) return { selector: scope };
  // A row without a page of its own is found by its place.
  if (element.localName === "tr") return { selector: "", row: rowsOf().indexOf(element) };
  const name = element.getAttribute("name"),
    href = element.getAttribute("href");
  const own = element.id
    ? `#${CSS.escape(element.id)}`
    : href
      ? `a[href="${CSS.escape(href)}"]`
      : name && `${element.localName}[name="${CSS.escape(name)}"]`;
  const table = element.closest("tbody");
  return {
    selector: `${scope} ${own || element.localName}`,
    // What is gone is replaced by what has come to its place: the next row of the table.
    row: row && table ? [...table.rows].indexOf(row) : -1,
  };
}

export function elementAt(place, root = document) {
  const selector = place?.selector.trim();
  const found = selector && root.querySelector(selector);
  if (found || !(place?.row >= 0)) return found;
  const rows = rowsOf(root);
  return rows[Math.min(place.row, rows.length - 1)];
}

// The rows of the lists of a page or drawer that can be opened or selected.
export const rowsOf = (root = document) =>
  [...root.querySelectorAll("table.list tbody tr")].filter(
    (row) =>
      (row.matches("[data-href], .opener") || row.querySelector("a[href], input[type=checkbox]")) &&
      row.checkVisibility(),
  );

export function focusOn(element, options = {}) {
  if (!element) return;
  if (!element.matches(FOCUSABLE)) element.tabIndex = -1;
  element.focus(options);
}

// Replace a part of the page by `change`; the focus that was in it goes to what has come instead.
export function keepFocus(part, change) {
  const before = part.contains(document.activeElement) && document.activeElement;
  const place = before ? placeOf(before) : null;
  change();
  if (!place || before.isConnected) return;
  focusOn(elementAt(place) ?? document.getElementById("content"), { preventScroll: true });
}

const read = (name) => {
  try {
    return JSON.parse(sessionStorage.getItem(name));
  } catch {
    return null;
  }
};

function write(name, value) {
  try {
    sessionStorage.setItem(name, JSON.stringify(value));
  } catch {
    // Nothing is kept where storage is refused or full.
  }
}

// A link or a form that leads to this page again, such as a heading that sorts.
function leave(url, from) {
  if (new URL(url).pathname !== location.pathname) return;
  const isTurned = from.matches("[rel=next], [rel=prev]");
  write("following", {
    path: location.pathname,
    at: Date.now(),
    place: isTurned ? null : placeOf(from),
    scroll: isTurned ? null : scrollY,
  });
}

// Each entry of the history has a name, also the one that the skip link adds.
function nameEntry() {
  const place = history.state?.place ?? Math.random().toString(36).slice(2);
  history.replaceState({ ...history.state, place }, "");
}

function arrive() {
  const state = history.state?.place;
  if (state) return restore(read(`place:${state}`));
  nameEntry();
  const followed = read("following");
  sessionStorage.removeItem("following");
  if (followed?.path === location.pathname && Date.now() - followed.at < FRESH) restore(followed);
  else if (!location.hash) mark(document.referrer);
}

function restore(kept) {
  if (!kept || document.querySelector("dialog[open], [aria-invalid=true]")) return;
  if (kept.place) focusOn(elementAt(kept.place), { preventScroll: true });
  else if (kept.scroll === null) focusOn(rowsOf()[0], { preventScroll: true });
  if (kept.scroll) scrollTo({ top: kept.scroll, behavior: "instant" });
}

// A list that is entered from the page of one of its rows begins there.
function mark(referrer) {
  if (!referrer || !document.querySelector("table.list")) return;
  const { origin, pathname, search } = new URL(referrer);
  if (origin !== location.origin || pathname === location.pathname) return;
  const row = rowsOf().find(
    (one) =>
      one.dataset.href?.startsWith(pathname) &&
      [pathname, pathname + search].includes(one.dataset.href),
  );
  focusOn(row, { preventScroll: true });
  row?.scrollIntoView({ block: "center" });
}

if (globalThis.document) {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    const isOther = event.defaultPrevented || event.metaKey || event.ctrlKey || event.shiftKey;
    if (link && !isOther && !link.download) leave(link.href, link);
  });
  document.addEventListener("submit", (event) => {
    if (!event.defaultPrevented && event.target.method === "get")
      leave(event.target.action, document.activeElement);
  });
  window.addEventListener("hashchange", nameEntry);
  window.addEventListener("pagehide", () => {
    const place = placeOf(document.activeElement);
    write(`place:${history.state?.place}`, { place, scroll: scrollY });
  });
  arrive();
}
