// Dialogs of the page. A control with data-opens-dialog="ID" opens one, and gets the focus back when
// it closes. A dialog that the server has opened, as for ?dialog=ID, becomes modal.

const openers = (id) => document.querySelectorAll(`[data-opens-dialog="${CSS.escape(id)}"]`);

// A form begins in its first field, not at the button that closes it.
export function openDialog(dialog, opener = visible(openers(dialog.id))) {
  opener?.focus(); // where the browser returns to
  dialog.removeAttribute("open"); // without an event of closing
  dialog.showModal();
  const field =
    dialog.querySelector("[autofocus]") ??
    dialog.querySelector(":is(input:not([type=hidden]), select, textarea):not(:disabled)");
  field?.focus();
}

const visible = (controls) => [...controls].find((control) => control.checkVisibility());

document.addEventListener("click", (event) => {
  const { target } = event;
  const opener = target.closest("[data-opens-dialog]");
  const dialog = opener && document.getElementById(opener.dataset.opensDialog);
  if (target.closest("[data-action=close-dialog]")) target.closest("dialog").close();
  else if (target.matches("dialog.drawer")) target.close();
  else if (dialog && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault(); // an opener may be a link, for a new tab
    openDialog(dialog, opener);
  }
});

// A link that acts as a button takes Space, too.
document.addEventListener("keydown", (event) => {
  if (event.key !== " " || !event.target.matches("a[data-opens-dialog]")) return;
  event.preventDefault();
  event.target.click();
});

// A reload does not open it again.
document.addEventListener(
  "close",
  ({ target }) => {
    const here = new URL(location.href);
    if (here.searchParams.get("dialog") !== target.id) return;
    here.searchParams.delete("dialog");
    here.hash = "";
    history.replaceState(history.state, "", here);
  },
  true,
);

for (const dialog of document.querySelectorAll("dialog.modal[open]:not(:modal)"))
  openDialog(dialog);
