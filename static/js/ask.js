// Confirmation dialogs. `data-confirm` on a form or its submit button is the question; `data-yes` is
// the confirming label where the button's own ("Cancel") would be ambiguous, and `data-no` the other.
// Dismissing is focused by default; Esc dismisses too and restores the focus.
import { say } from "./words.js";

const agreed = new WeakSet();

document.addEventListener(
  "submit",
  async (event) => {
    const form = event.target,
      button = event.submitter; // null if a script submits the form
    const question = button?.dataset.confirm ?? form.dataset.confirm;
    if (!question || agreed.has(form)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const label = form.dataset.yes ?? button?.dataset.yes ?? button?.textContent.trim();
    const dismiss = form.dataset.no ?? button?.dataset.no;
    if (await confirmed(question, label, button?.matches(".danger"), dismiss)) send(form, button);
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

// Ask, and return whether the answer is yes.
export function confirmed(
  question,
  label,
  isDangerous = false,
  dismiss = say("Cancel", { context: "text, ask" }),
) {
  const dialog = Object.assign(document.createElement("dialog"), {
    className: "ask",
    role: "alertdialog",
  });
  const text = Object.assign(document.createElement("p"), { id: "asked", textContent: question });
  const leave = Object.assign(document.createElement("button"), {
    className: "btn",
    autofocus: true,
    textContent: dismiss,
  });
  const act = Object.assign(document.createElement("button"), {
    className: isDangerous ? "btn danger" : "btn primary",
    value: "yes",
    textContent: label || say("Yes", { context: "text, ask" }),
  });
  const row = Object.assign(document.createElement("div"), { className: "row end" });
  const body = Object.assign(document.createElement("form"), {
    method: "dialog",
    className: "body stack",
  });
  dialog.setAttribute("aria-labelledby", text.id);
  row.append(leave, act);
  body.append(text, row);
  dialog.append(body);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
  });
}
