// Forms of clusters and directories: connection tests, errors next to their fields, a test before
// saving, and the dialog that asks for the reason of a drain.
import { say } from "./words.js";

document.addEventListener("click", (event) => {
  const on = (what) => event.target.closest(what);
  if (on("button[data-test]")) {
    event.preventDefault();
    test(on("button[data-test]"));
  } else if (on("[data-drain]")) ask(on("[data-drain]").dataset.drain);
});

// A cluster that was just connected: show its nodes as soon as it has reported them.
document.querySelectorAll("[data-await-nodes]").forEach((place) => {
  const began = Date.now();
  const timer = setInterval(async () => {
    const seconds = Math.round((Date.now() - began) / 1000);
    if (document.hidden) return;
    const got = await fetch(place.dataset.awaitNodes, {
      headers: { Accept: "application/json" },
    }).catch(() => null);
    const found = got?.ok ? (await got.json()).items : [];
    if (found.length) {
      clearInterval(timer);
      location.reload();
    } else if (seconds >= 10)
      place.querySelector("[data-waited]").textContent = say(
        "Still waiting after {n} seconds. Test the connection if this takes longer than a minute.",
        { n: seconds },
      );
  }, 2000);
});

document.querySelectorAll("form[data-options]").forEach((form) =>
  form.addEventListener("submit", async (event) => {
    if (!event.submitter?.matches("[data-save]")) return;
    event.preventDefault();
    const anyway = form.querySelector("[data-anyway]");
    if (await test(form.querySelector("[data-test]"))) form.requestSubmit(anyway);
  }),
);

// Returns whether the connection works.
async function test(button) {
  const form = button.form,
    answer = (form.matches("[data-options]") ? form : document).querySelector("[data-answer]");
  const anyway = form.querySelector("[data-anyway]");
  button.disabled = true;
  tell(answer, "", say("Testing the connection …"));
  let told;
  try {
    const got = await fetch(button.dataset.test, {
      method: "POST",
      body: JSON.stringify(form.matches("[data-options]") ? options(form) : {}),
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json",
        "X-CSRFToken": form.elements.csrfmiddlewaretoken.value,
      },
    });
    told = await got.json();
    if (got.status === 202) told = await ended(got.headers.get("Location"));
    const faults = mark(form, told.errors ?? []);
    if (!got.ok)
      tell(
        answer,
        "bad",
        faults ? say("Not tested: fix the marked fields first.") : told.detail || told.title,
      );
    else
      tell(
        answer,
        told.is_ok ? (told.warnings?.length ? "warn" : "good") : "bad",
        told.detail ??
          [
            told.version && !told.message.includes(told.version)
              ? `${told.message} (${told.version})`
              : told.message,
            ...(told.warnings ?? []),
          ].join(" "),
      );
    if (anyway) anyway.hidden = !got.ok || told.is_ok;
  } catch {
    tell(answer, "bad", say("The portal didn't respond. Try again."));
  }
  button.disabled = false;
  return told?.is_ok === true;
}

// Wait for a test that runs in the background.
async function ended(where) {
  for (;;) {
    await new Promise((resolve) => {
      setTimeout(resolve, 500);
    });
    const got = await fetch(where, { headers: { Accept: "application/json" } });
    const told = await got.json();
    if (!got.ok || told.ended_at) return told;
  }
}

// Options as the API expects them: null removes a secret, an empty field keeps the stored one.
function options(form) {
  const removed = new Set(
    [...form.querySelectorAll("[name=remove]:checked")].map((box) => box.value),
  );
  const given = {};
  for (const place of form.querySelectorAll(".options [data-field]")) {
    const name = place.dataset.field,
      field = place.querySelector(`[name="${CSS.escape(name)}"]`);
    given[name] =
      field.type === "checkbox"
        ? field.checked
        : field.value === "" && removed.has(name)
          ? null
          : field.value;
  }
  return {
    options: given,
    ...(form.elements.kind
      ? { backend: form.elements.kind.value, kind: form.elements.kind.value }
      : {}),
  };
}

function mark(form, errors) {
  const faults = new Map(
    errors.map((error) => [error.field.replace(/^options\./, ""), error.message]),
  );
  for (const place of form.querySelectorAll("[data-field]")) {
    const fault = faults.get(place.dataset.field) ?? "",
      field = place.querySelector("input, select, textarea");
    place.querySelector(".error").textContent = fault;
    fault ? field.setAttribute("aria-invalid", "true") : field.removeAttribute("aria-invalid");
    if (fault && place.closest("details")) place.closest("details").open = true;
  }
  form.querySelector("[aria-invalid]")?.focus();
  return faults.size;
}

function tell(place, kind, text) {
  place.className = `note ${kind}`;
  place.textContent = text;
  place.hidden = false;
}

function ask(node) {
  const form = drainForm(node);
  form.closest("dialog").showModal();
  form.elements.reason.focus();
}

// The form of the dialog, for a node.
function drainForm(node) {
  const form = document.querySelector("#drain form");
  form.action = form.dataset.base + encodeURIComponent(node);
  form.querySelector("[data-name]").textContent = node;
  return form;
}
const { node } = document.querySelector("#drain form")?.dataset ?? {};
if (node) drainForm(node);

// A dialog whose form came back with an error.
document
  .querySelectorAll('dialog:has([aria-invalid="true"])')
  .forEach((dialog) => dialog.showModal());
