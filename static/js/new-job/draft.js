// An edited draft survives a click on a template. `text` returns the draft, `restore` sets it;
// `isLost` says whether it would be lost when the page goes.

export function createDraft(root, { text, restore, isLost }) {
  const stash = `new-job:${root.dataset.org}`,
    note = root.querySelector("[data-draft]");
  const kept = sessionStorage.getItem(stash);
  sessionStorage.removeItem(stash);
  if (kept && kept !== text()) note.hidden = false;
  root.querySelector("[data-restore]").addEventListener("click", () => {
    note.hidden = true;
    restore(kept);
  });
  window.addEventListener("pagehide", () => {
    if (isLost()) sessionStorage.setItem(stash, text());
  });
}
