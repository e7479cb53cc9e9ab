// Forms of clusters and directories (form[data-connection]): fields of the chosen way only, a test of the connection
// in the background whose checklist comes from the page that answers, each problem at its field, and a test before saving.
import { parsed } from "./swap.js";
import { say } from "./words.js";

const passed = new WeakMap(); // what a form had when its test found nothing wrong
const running = new WeakMap();
document.querySelectorAll("form[data-connection]").forEach((form) => {
  chooseWay(form);
  form.addEventListener("change", () => chooseWay(form));
  form.addEventListener("step", ({ detail }) => {
    if (detail === "test" && passed.get(form) !== contents(form)) test(form).then(() => lead(form));
  });
  form.addEventListener("submit", async (event) => {
    if (event.submitter?.value === "test") {
      event.preventDefault();
      if (!(await test(form))) form.querySelector("[aria-invalid=true]")?.focus();
    } else if (event.submitter?.matches("[data-save]") && passed.get(form) !== contents(form)) {
      event.preventDefault();
      if (await test(form)) finish(form);
      else lead(form);
    } else if (event.submitter?.matches("[data-save]")) {
      event.preventDefault();
      finish(form);
    }
  });
  form.addEventListener("input", ({ target }) => clear(target.closest("[data-field]")));
});

// The first problem is the next thing to do, unless somebody types meanwhile.
function lead(form) {
  if (!document.activeElement?.matches("input, select, textarea"))
    form.querySelector(".failed [data-correct]")?.focus();
}

// It was tested: the server does not need to do so again.
// The browser ignores a submission from within another one.
const finish = (form) => setTimeout(() => form.requestSubmit(form.querySelector("[data-anyway]")));
const contents = (form) =>
  JSON.stringify(
    [...form.elements]
      .filter((field) => field.name && !field.disabled && !field.closest("[data-untested]"))
      .map((field) => [field.name, field.value, field.checked]),
  );

// Show the fields of the chosen way; those of others are neither sent nor required.
function chooseWay(form) {
  const way = form.querySelector("[data-way]:checked")?.value;
  if (!way) return;
  for (const place of form.querySelectorAll("[data-ways]")) {
    const isOurs = place.dataset.ways.split(" ").includes(way);
    place.hidden = !isOurs;
    for (const field of place.querySelectorAll("input, select, textarea")) field.disabled = !isOurs;
  }
  for (const place of form.querySelectorAll("[data-needed-by], [data-is-required]")) {
    const isNeeded =
      "isRequired" in place.dataset || place.dataset.neededBy.split(" ").includes(way);
    require(place, isNeeded);
  }
}

function require(place, isNeeded) {
  place.querySelector("input, select, textarea").required = isNeeded;
  place.querySelector("[data-star]").hidden = !isNeeded;
}

// Returns whether the connection works.
function test(form) {
  if (!running.has(form))
    running.set(
      form,
      tested(form).finally(() => running.delete(form)),
    );
  return running.get(form);
}

async function tested(form) {
  const before = contents(form),
    body = new FormData(form);
  body.set("do", "test");
  tell(form, "", say("Testing the connection …"));
  try {
    take(form, await parsed(await fetch(location.href, { method: "POST", body })));
    for (;;) {
      const { poll } = form.querySelector("[data-tested]").dataset;
      if (!poll) break;
      await new Promise((resolve) => {
        setTimeout(resolve, 400);
      });
      const page = await parsed(await fetch(poll));
      if (page.querySelector("[data-tested]").dataset.tested !== "running") take(form, page);
    }
  } catch {
    tell(form, "bad", say("The portal didn't respond. Try again."));
  }
  const isOk = form.querySelector("[data-tested]").dataset.tested === "ok";
  if (isOk) passed.set(form, before);
  form.querySelector("[data-anyway]").hidden =
    form.querySelector("[data-tested]").dataset.tested !== "failed";
  form.dispatchEvent(new Event("tested"));
  return isOk;
}

// Take over the checklist of a page, and put each problem to the field that causes it.
function take(form, page) {
  const place = document.importNode(page.querySelector("[data-tested]"), true);
  form.querySelector("[data-tested]").replaceWith(place);
  form.querySelectorAll("[data-field]").forEach(clear);
  markProblems(form, place);
}

// Put each problem of a checklist to its field, if it is inside `part` and not marked for another reason.
export function markProblems(part, checklist) {
  for (const line of checklist.querySelectorAll(".failed[data-at]")) {
    const at = part.querySelector(`[data-field="${CSS.escape(line.dataset.at)}"]`);
    if (!at || at.querySelector("[aria-errormessage]")) continue;
    at.querySelector(".error").textContent = line.querySelector("[data-text]").textContent.trim();
    at.querySelector("input, select, textarea").setAttribute("aria-invalid", "true");
    const fold = at.closest("details");
    if (fold) fold.open = true;
  }
}

function clear(place) {
  if (!place?.querySelector("[aria-invalid]")) return;
  place.querySelector("[aria-invalid]").removeAttribute("aria-invalid");
  place.querySelector(".error").textContent = "";
}

function tell(form, kind, text) {
  const place = form.querySelector("[data-tested]");
  const note = Object.assign(document.createElement("p"), {
    className: `note ${kind}`,
    textContent: text,
  });
  place.removeAttribute("data-poll");
  place.dataset.tested = "";
  place.replaceChildren(note);
}
