// Change an element into a fresh version of itself: what is equal stays, so that focus, open menus,
// selections and running clocks are kept. Children with an id are matched by it.
export function morph(old, fresh) {
  const known = new Map([...old.children].filter((e) => e.id).map((e) => [e.id, e]));
  let at = old.firstChild;
  for (const next of [...fresh.childNodes]) {
    const same = next.id ? known.get(next.id) : null;
    if (same && same !== at) old.insertBefore(same, at);
    const here = same ?? at;
    if (here && isLike(here, next)) {
      update(here, next);
      at = here.nextSibling;
    } else old.insertBefore(next, at);
  }
  while (at) {
    const after = at.nextSibling;
    at.remove();
    at = after;
  }
}

const isLike = (a, b) =>
  a.nodeType === b.nodeType && a.nodeName === b.nodeName && (a.id ?? "") === (b.id ?? "");

function update(old, fresh) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
    return;
  }
  if (old.isEqualNode(fresh)) return;
  const isClock = old.matches("time[data-rel]") && old.dateTime === fresh.dateTime;
  for (const { name, value } of fresh.attributes)
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const { name } of [...old.attributes])
    if (!fresh.hasAttribute(name) && !(name === "open" || (isClock && name === "title")))
      old.removeAttribute(name);
  if (!isClock) morph(old, fresh);
}
