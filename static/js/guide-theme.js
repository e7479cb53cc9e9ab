// What the guide's theme (Zensical) sets in an inline script of the head, which the portal's policy refuses.
(() => {
  const scope = new URL(document.currentScript.dataset.base, location);
  if (!scope.pathname.endsWith("/")) scope.pathname += "/";
  window.__md_scope = scope;
  window.__md_hash = (text) =>
    [...text].reduce((sum, letter) => (sum << 5) - sum + letter.charCodeAt(0), 0);
  window.__md_get = (key, store = localStorage, at = scope) =>
    JSON.parse(store.getItem(`${at.pathname}.${key}`));
  window.__md_set = (key, value, store = localStorage, at = scope) => {
    try {
      store.setItem(`${at.pathname}.${key}`, JSON.stringify(value));
    } catch {
      // Nothing is remembered where storage is refused.
    }
  };
})();
