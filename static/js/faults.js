// Restore the input of a rejected form and show the error next to its field. Without this module,
// the error is shown at the top of the page.
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
  return fields.length > 1 ? fields.find((field) => text.includes(`'${field.value}'`)) : fields[0];
}

function beside(note, form) {
  const name = note.dataset.field,
    text = note.querySelector("span").textContent.trim(),
    field = about(form, name, text);
  const place = field?.closest(".field, td");
  if (!place) return;
  const fault = document.createElement("span");
  fault.className = "error";
  fault.setAttribute("role", "alert");
  fault.textContent = text.startsWith(`${name}: `) ? text.slice(name.length + 2) : text;
  place.append(fault);
  field.setAttribute("aria-invalid", "true");
  reveal(field);
  field.focus();
  (note.parentElement.childElementCount === 1 ? note.parentElement : note).remove();
}

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

const note = document.querySelector(".messages [data-field], .messages .note.bad"),
  sent = sessionStorage.getItem(KEY);
sessionStorage.removeItem(KEY);
if (note && sent) {
  const name = note.dataset.field,
    form = back(JSON.parse(sent), name);
  if (form && name) beside(note, form);
  else if (form) atTop(note, form);
}
