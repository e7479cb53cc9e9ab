// Restore the input of a rejected form and show each error next to its field. Without this module,
// the errors are shown at the top of the page.
import { requirement } from "./requirements.js";

const KEY = "sent",
  KEPT =
    "input:not([type=password], [type=hidden], [type=file], .masked, .secret *), select, textarea:not(.masked, [name=value])";
const here = (form) =>
  new URL(form.getAttribute("action") || location.href, location.href).pathname;
const kept = (form) => [...form.elements].filter((field) => field.name && field.matches(KEPT));

// The action, if one URL handles several forms.
const does = (form, what) =>
  [...form.elements].some((field) => field.name === "do" && field.value === what);

document.addEventListener("submit", ({ target: form, submitter }) => {
  if (form.method !== "post" || document.querySelector("main.auth")) return; // never store credentials
  const what = submitter?.name === "do" ? submitter.value : form.querySelector("[name=do]")?.value;
  sessionStorage.setItem(
    KEY,
    JSON.stringify({
      to: here(form),
      what,
      values: kept(form).map((field) => [field.name, field.value, field.checked]),
    }),
  );
});

// Find the submitted form and fill it in again. An error without a field must leave no doubt which.
function back(sent, name) {
  const forms = [...document.forms].filter(
    (one) => one.method === "post" && here(one) === sent.to && (!sent.what || does(one, sent.what)),
  );
  const names = (fields) => [...new Set(fields)].sort().join();
  const same = forms.filter(
    (one) =>
      kept(one).length &&
      names(kept(one).map((field) => field.name)) === names(sent.values.map(([known]) => known)),
  );
  const form = name
    ? forms.find((one) => kept(one).some((field) => field.name === name))
    : same.length === 1 && same[0];
  const values = [...sent.values];
  for (const field of form ? kept(form) : []) {
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
  return form;
}

// Find the field of an error; among several of the same name, the one whose value it quotes.
function about(form, name, text) {
  const fields = kept(form).filter((field) => field.name === name);
  const isQuoted = (field) =>
    [`'${field.value}'`, `: ${field.value} `].some((quoted) => text.includes(quoted)) &&
    !field.hasAttribute("aria-errormessage");
  return fields.length > 1 ? fields.find(isQuoted) : fields[0];
}

function beside(note, form) {
  const name = note.dataset.field,
    text = note.querySelector("span").textContent.trim(),
    field = about(form, name, text);
  if (!field || !mark(field, text.startsWith(`${name}: `) ? text.slice(name.length + 2) : text))
    return null;
  (note.parentElement.childElementCount === 1 ? note.parentElement : note).remove();
  return field;
}

// Show what is wrong with a field next to it until its value changes. False if there is no place.
function mark(field, text) {
  const place = field.closest(".field, td, .check") ?? field.closest("label");
  if (!place) return false;
  unmark(field);
  const fault = document.createElement("span");
  fault.className = "error";
  fault.id = `fault-${(marked += 1)}`;
  fault.setAttribute("role", "alert");
  fault.textContent = text;
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
  place.closest("dialog:not([open])")?.showModal();
}

const notes = [...document.querySelectorAll(".messages [data-field], .messages .note.bad")],
  sent = sessionStorage.getItem(KEY);
sessionStorage.removeItem(KEY);
if (notes.length && sent) {
  const told = JSON.parse(sent),
    fields = [];
  for (const note of notes) {
    const name = note.dataset.field,
      form = back(told, name),
      field = form && name ? beside(note, form) : null;
    if (field) fields.push(field);
    else if (form && !name) atTop(note, form);
  }
  fields
    .sort((a, b) => (a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1))[0]
    ?.focus();
}
