// Confirmation dialogs for destructive forms. `data-confirm` on the form or the submit button is the
// question; `data-yes` is the confirming label where the button's own ("Cancel") would be ambiguous.
// Dismissing is focused by default; Esc dismisses too and restores the focus.
import { say } from "./words.js";

const agreed = new WeakSet();

document.addEventListener(
  "submit",
  (event) => {
    const form = event.target,
      button = event.submitter; // null if a script submits the form
    const question = button?.dataset.confirm ?? form.dataset.confirm;
    if (!question || agreed.has(form)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    ask(question, form, button, () => send(form, event.submitter));
  },
  true,
);

// The confirmation counts once, even if the form cannot be sent.
function send(form, button) {
  agreed.add(form);
  try {
    form.requestSubmit(button);
  } finally {
    agreed.delete(form);
  }
}

function ask(question, form, button, yes) {
  const dialog = Object.assign(document.createElement("dialog"), {
    className: "ask",
    role: "alertdialog",
  });
  const text = Object.assign(document.createElement("p"), { id: "asked", textContent: question });
  const leave = Object.assign(document.createElement("button"), {
    className: "btn",
    autofocus: true,
    textContent: say("Leave it"),
  });
  const act = Object.assign(document.createElement("button"), {
    value: "yes",
    textContent:
      form.dataset.yes ?? button?.dataset.yes ?? (button?.textContent.trim() || say("Yes")),
  });
  act.className = button?.matches(".danger") ? "btn danger" : "btn primary";
  const row = Object.assign(document.createElement("div"), { className: "row end" });
  const body = Object.assign(document.createElement("form"), {
    method: "dialog",
    className: "body stack",
  });
  dialog.setAttribute("aria-labelledby", text.id);
  row.append(leave, act);
  body.append(text, row);
  dialog.append(body);
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (dialog.returnValue === "yes") yes();
  });
  document.body.append(dialog);
  dialog.showModal();
}
