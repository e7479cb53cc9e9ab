// What the guide's theme (Zensical) sets in an inline script of the head, which the portal's policy refuses. Nothing is stored:
// the portal has the settings of a person.
window.__md_scope = new URL(document.currentScript.dataset.base, location);
window.__md_get = () => null;
window.__md_set = () => undefined;
