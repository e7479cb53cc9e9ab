// A form in steps (<c-wizard>): one step at a time, each with an address, so that the browser's Back works. Going back
// loses nothing, and Enter goes on. Without this module all steps are shown below each other.
import { markProblems } from "./connection-test.js";
import { parsed } from "./swap.js";
import { say } from "./words.js";

const DRAFT =
  "input:not([type=password], [type=hidden], [type=file], .masked), select, textarea:not(.masked)";

function start(form) {
  const steps = [...form.querySelectorAll("[data-step]")];
  const names = steps.map((step) => step.dataset.step);
  const button = (name) => form.querySelector(`[data-wizard-${name}]`);
  const save = form.querySelector("[data-save]");
  const key = `wizard:${location.pathname}:${form.dataset.wizard}`;
  const before = button("first");
  let current = 0,
    reached = 0,
    returning = -1; // the step that a correction comes from
  form.noValidate = true; // a field of a hidden step could not be shown by the browser

  const lost = form.querySelector("[aria-invalid=true]") ? [] : restore(form, key);
  form.dispatchEvent(new Event("change", { bubbles: true })); // who hides fields by a choice sees it restored
  const wrong = steps.findIndex((step) => step.querySelector("[aria-invalid=true]"));
  const asked = names.indexOf(new URLSearchParams(location.search).get("step"));
  reached = wrong >= 0 ? steps.length - 1 : Math.max(0, Math.min(asked, firstIncomplete()));
  show(wrong >= 0 ? wrong : reached, false);
  history.replaceState({ step: current }, "", address());
  lost.forEach((field) => field.checkValidity());

  function firstIncomplete() {
    const at = steps.findIndex((step) => fieldsOf(step).some((field) => !field.validity.valid));
    return at < 0 ? steps.length - 1 : at;
  }

  function address() {
    const here = new URL(location.href);
    here.searchParams.set("step", names[current]);
    here.hash = "";
    return here;
  }

  function show(at, isMoved = true) {
    current = at;
    reached = Math.max(reached, at);
    const isLast = at === steps.length - 1;
    steps.forEach((step, n) => {
      step.hidden = n !== at;
    });
    names.forEach((name, n) => {
      const tab = form.querySelector(`[data-tab="${name}"]`);
      tab.classList.toggle("is-done", n < reached && n !== at);
      tab.classList.toggle("is-open", n <= reached);
      n === at ? tab.setAttribute("aria-current", "step") : tab.removeAttribute("aria-current");
    });
    button("back").hidden = at === 0;
    if (before) before.hidden = at !== 0;
    button("next").hidden = isLast;
    button("next").textContent =
      returning > at
        ? say("Test again", { context: "button" })
        : say("Next", { context: "button" });
    save.hidden = !isLast;
    if (button("more")) button("more").hidden = !isLast;
    form.dispatchEvent(new CustomEvent("step", { detail: names[at] }));
    if (!isMoved) return;
    const isTest = steps[at].querySelector("[data-tested]"); // what it finds leads on
    const first = fieldsOf(steps[at]).find((field) => field.offsetParent && !isTest);
    (first ?? (isLast ? save : button("next"))).focus({ preventScroll: true });
    if (form.getBoundingClientRect().top < 0) form.scrollIntoView();
  }

  function go(at) {
    show(at);
    history.pushState({ step: at }, "", address());
  }

  // Whether the steps before one are complete; else the first that is not is shown, with what is missing.
  function mayShow(at) {
    for (let n = 0; n < at; n += 1) {
      const faulty = fieldsOf(steps[n]).filter((field) => !field.validity.valid);
      if (!faulty.length) continue;
      if (n !== current) go(n);
      faulty.forEach((field) => field.checkValidity());
      return false;
    }
    return true;
  }

  async function next() {
    const to = returning > current ? returning : current + 1;
    const at = current;
    const isComplete = mayShow(to);
    if (current === at && "each" in form.dataset) await check(steps[at]);
    const wrong = current === at && steps[at].querySelector("[aria-invalid=true]");
    if (wrong) wrong.focus();
    if (!isComplete || wrong || current !== at) return;
    returning = -1;
    go(to);
  }

  // What the server says about the fields of a step, in addition to what the browser says.
  async function check(step) {
    const body = new FormData(form);
    body.set("do", "check");
    try {
      const page = await parsed(await fetch(location.href, { method: "POST", body }));
      markProblems(step, page.querySelector("[data-tested]"));
    } catch {
      /* the test will say it */
    }
  }

  document.addEventListener(
    "submit",
    (event) => {
      const by = event.submitter;
      if (event.target !== form || (by?.value === "test" && by.offsetParent)) return;
      if (current === steps.length - 1 && (!by || by.offsetParent || by.matches("[data-anyway]"))) {
        if (mayShow(steps.length)) {
          form.addEventListener("formdata", () => sessionStorage.removeItem(key), { once: true });
          return;
        }
      } else if (current === steps.length - 1) setTimeout(() => form.requestSubmit(save));
      else next(); // Enter in a field
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    true,
  );
  form.addEventListener("click", (event) => {
    const on = (what) => event.target.closest(what);
    if (on("[data-wizard-next]")) next();
    else if (on("[data-wizard-back]")) history.state?.step === current ? go(current - 1) : go(0);
    else if (on("[data-tab] a")) {
      event.preventDefault();
      const at = names.indexOf(on("[data-tab]").dataset.tab);
      if (at !== current && (at < current || mayShow(at))) go(at);
    } else if (on("[data-correct]")) {
      event.preventDefault();
      const field = form.querySelector(`[id="${on("[data-correct]").hash.slice(1)}"]`);
      const at = steps.findIndex((step) => step.contains(field));
      if (at >= 0 && at !== current) {
        returning = current;
        go(at);
      }
      const fold = field?.closest("details");
      if (fold) fold.open = true;
      field?.focus();
    }
  });
  form.addEventListener("tested", () => {
    for (const [n, step] of steps.entries())
      form
        .querySelector(`[data-tab="${names[n]}"]`)
        .classList.toggle("is-wrong", Boolean(step.querySelector("[aria-invalid=true]")));
    const test = steps.findIndex((step) => step.querySelector(".failed[data-at]"));
    if (test >= 0 && test < current) go(test);
  });
  form.addEventListener("input", () => keep(form, key));
  addEventListener("popstate", (event) => {
    const at = event.state?.step ?? 0;
    if (at !== current && at < steps.length) show(Math.min(at, reached));
  });
}

const fieldsOf = (step) =>
  [...step.querySelectorAll("input, select, textarea")].filter((field) => field.willValidate);
const drafted = (form) =>
  [...form.elements].filter(
    (field) => field.name && field.matches(DRAFT) && !field.closest(".secret"),
  );

// What was typed stays when the page is left. Of secrets only their names do, to ask for them again.
function keep(form, key) {
  const values = drafted(form).map((field) => [field.name, field.value, field.checked]);
  const secrets = secretsOf(form).filter((field) => field.value);
  const names = secrets.map((field) => field.name);
  sessionStorage.setItem(key, JSON.stringify({ values, secrets: names }));
}

const secretsOf = (form) =>
  [...form.elements].filter((field) => field.name && field.matches("[type=password], .masked"));

// Returns the secrets that were typed and are lost.
function restore(form, key) {
  const { values = [], secrets = [] } = JSON.parse(sessionStorage.getItem(key) ?? "{}");
  for (const field of drafted(form)) {
    const isBox = ["checkbox", "radio"].includes(field.type);
    const at = values.findIndex(
      ([name, value]) => name === field.name && (!isBox || value === field.value),
    );
    if (at < 0) continue;
    const [[, value, checked]] = values.splice(at, 1);
    if (isBox) field.checked = checked;
    else field.value = value;
  }
  const lost = secretsOf(form).filter((field) => secrets.includes(field.name) && !field.value);
  for (const field of lost) {
    field.setCustomValidity(
      say("Enter it again: passwords are not kept when the page is reloaded."),
    );
    field.addEventListener("input", () => field.setCustomValidity(""), { once: true });
  }
  return lost;
}

document.querySelectorAll("form[data-wizard]").forEach(start);
