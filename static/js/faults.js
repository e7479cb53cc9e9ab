// Restore the input of a rejected form and show each error next to its field, the first with the
// focus. Without this module, the errors are shown at the top of the page.
import { openDialog } from "./dialogs.js";
import { requirement } from "./requirements.js";

const KEY = "sent",
  KEPT =
    "input:not([type=password], [type=hidden], [type=file], .masked, .secret *), select, textarea:not(.masked, [name=value])";
const here = (form) =>
  new URL(form.getAttribute("action") || location.href, location.href).pathname;
const named = (form) =>
  [...form.elements].filter((field) => field.name && !field.matches("button, [type=hidden]"));
const kept = (form) => named(form).filter((field) => field.matches(KEPT));

// The action, if one URL handles several forms.
const does = (form, what) =>
  [...form.elements].some((field) => field.name === "do" && field.value === what);

document.addEventListener(
  "submit",
  ({ target: form, submitter }) => {
    if (form.method !== "post" || document.querySelector("main.auth")) return; // never store credentials
    const what =
      submitter?.name === "do" ? submitter.value : form.querySelector("[name=do]")?.value;
    sessionStorage.setItem(
      KEY,
      JSON.stringify({
        to: here(form),
        what,
        values: kept(form).map((field) => [field.name, field.value, field.checked]),
      }),
    );
  },
  true, // also what swap.js sends
);

// The submitted form. Without a field in it, an error must leave no doubt which.
function formOf(sent, name) {
  const forms = [...document.forms].filter(
    (one) =>
      one.method === "post" &&
      (!sent || (here(one) === sent.to && (!sent.what || does(one, sent.what)))),
  );
  const withField = name && forms.find((one) => fieldsOf(one, name).length);
  if (withField || !sent) return withField;
  const names = (fields) => [...new Set(fields)].sort().join();
  const same = forms.filter(
    (one) =>
      kept(one).length &&
      names(kept(one).map((field) => field.name)) === names(sent.values.map(([known]) => known)),
  );
  return same.length === 1 && same[0];
}

function refill(form, sent) {
  const values = [...sent.values];
  for (const field of kept(form)) {
    const at = values.findIndex(
      ([known, value]) =>
        known === field.name &&
        (!["checkbox", "radio"].includes(field.type) || value === field.value),
    );
    if (at < 0) continue;
    const [[, value, checked]] = values.splice(at, 1);
    if (["checkbox", "radio"].includes(field.type)) field.checked = checked;
    else field.value = value;
  }
}

// The fields that a path of the API is about: "labels[0]" and "labels.rack" are in "labels".
function fieldsOf(form, path) {
  for (let name = path; name; name = name.replace(/(^|[.[])[^.[]*$/, "")) {
    const fields = named(form).filter((field) => field.name === name);
    if (fields.length) return fields;
  }
  return [];
}

// Show a note of the page at its field; among several of the same name, at the one whose value it
// quotes. Returns the field.
function beside(note, form, name) {
  const text = note.querySelector("span").textContent.trim(),
    fields = fieldsOf(form, name);
  const isQuoted = (field) =>
    [`'${field.value}'`, `: ${field.value} `].some((quoted) => text.includes(quoted)) &&
    !field.hasAttribute("aria-errormessage");
  const isGroup = ["checkbox", "radio"].includes(fields[0]?.type);
  const field = fields.length > 1 && !isGroup ? fields.find(isQuoted) : fields[0];
  const said = text.startsWith(`${name}: `) ? text.slice(name.length + 2) : text;
  // In the API it follows the name of the field, here it is a sentence.
  const sentence = said.replace(/^(must|is|it|are|needs|choose|there)\b/, (word) =>
    word.replace(/^./, (letter) => letter.toUpperCase()),
  );
  if (!field || !mark(field, sentence, note.querySelector("a"))) return null;
  (note.parentElement.childElementCount === 1 ? note.parentElement : note).remove();
  return field;
}

// Show what is wrong with a field next to it until its value changes. False if there is no place.
function mark(field, text, help = null) {
  const group = ["checkbox", "radio"].includes(field.type) && field.closest("fieldset"),
    place = group || (field.closest(".field, td, .check") ?? field.closest("label"));
  if (!place) return false;
  unmark(field);
  const fault = document.createElement("span");
  fault.className = "error";
  fault.id = `fault-${(marked += 1)}`;
  fault.setAttribute("role", "alert");
  fault.append(text, ...(help ? [" ", help] : []));
  place.append(fault);
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-errormessage", fault.id);
  reveal(field);
  return true;
}

function unmark(field) {
  document.getElementById(field.getAttribute("aria-errormessage") ?? "")?.remove();
  field.removeAttribute("aria-errormessage");
  field.removeAttribute("aria-invalid");
}

// What a browser refuses is said like what the portal refuses: at each field, in our words.
let first = null,
  marked = 0;
document.addEventListener(
  "invalid",
  (event) => {
    const field = event.target,
      isNamed = field.type === "radio" && field.form?.querySelector("[type=radio][aria-invalid]");
    if (!isNamed && !mark(field, requirement(field))) return; // the browser says it itself
    event.preventDefault();
    if (first) return;
    first = field;
    queueMicrotask(() => {
      first.focus();
      first = null;
    });
  },
  true,
);
document.addEventListener("input", ({ target }) => {
  if (target.getAttribute?.("aria-errormessage")?.startsWith("fault-")) unmark(target);
});

// A modal dialog covers the messages of the page, so its own comes along.
function atTop(note, form) {
  reveal(form);
  if (form.closest("dialog")) form.prepend(note);
}

function reveal(place) {
  for (let fold = place.closest("details"); fold; fold = fold.parentElement.closest("details"))
    fold.open = true;
  const dialog = place.closest("dialog:not([open])");
  if (dialog) openDialog(dialog);
}

// Fields whose error the server has put beside them, as in forms of options and of sign-in.
function rendered() {
  const fields = [...document.querySelectorAll(".field > :is(.error, .form-error):not(:empty)")]
    .map((fault) => fault.parentElement.querySelector("input:not([type=hidden]), select, textarea"))
    .filter(Boolean);
  for (const field of fields) field.setAttribute("aria-invalid", "true");
  return fields;
}

function showRejected() {
  const text = sessionStorage.getItem(KEY),
    sent = text && JSON.parse(text),
    notes = [...document.querySelectorAll(".messages [data-field], .messages .note.bad")];
  sessionStorage.removeItem(KEY);
  const fields = rendered();
  for (const note of notes) {
    const name = note.dataset.field,
      form = formOf(sent, name);
    if (!form) continue;
    if (sent) refill(form, sent);
    const field = name && beside(note, form, name);
    if (field) fields.push(field);
    else atTop(note, form);
  }
  const [field] = fields.sort((a, b) =>
    a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1,
  );
  field?.focus();
  // A fragment of the address takes the focus away when the page is complete.
  if (field && location.hash) addEventListener("load", () => setTimeout(() => field.focus()));
}

showRejected();
// A drawer shows the messages of its own forms.
document.addEventListener("swapped", () => {
  if (document.querySelector("dialog.drawer[open]")) sessionStorage.removeItem(KEY);
  else showRejected();
});
