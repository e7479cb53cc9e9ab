// The form, a view of the document: `write` gets a function that changes it, and returns it anew.
import { createPairs } from "../pair-rows.js";
import { say } from "../words.js";

export function createFormView(root, write) {
  const fields = root.querySelector("[data-fields]"),
    message = root.querySelector("[data-unreadable]"),
    convert = root.querySelector("[data-convert]"),
    paths = root.querySelector("[data-paths]"),
    command = root.querySelector("[data-field=run]"),
    folds = [...root.querySelectorAll("details.fold")];
  const controls = () => root.querySelectorAll("[data-field]");
  const pairs = [...root.querySelectorAll("[data-pairs]")].map((element) =>
    createPairs(element, (entries) =>
      write((spec) => spec.setPairs(element.dataset.pairs, entries)),
    ),
  );

  // An error is a description of its control, not a part of its name.
  root.querySelectorAll("label.field").forEach((label, n) => {
    const control = label.querySelector("input, select, textarea"),
      error = label.querySelector("[data-error]");
    label.firstElementChild.id = `label-${n}`;
    control.setAttribute("aria-labelledby", `label-${n}`);
    if (!error) return;
    error.id = `error-${n}`;
    control.setAttribute("aria-describedby", error.id);
  });

  function fill(spec) {
    const isFixed = spec.isScript || spec.problem !== null;
    for (const control of fields.querySelectorAll("[data-field], [data-part], button"))
      control.disabled = isFixed;
    message.hidden = !isFixed;
    convert.hidden = !spec.isScript;
    if (isFixed) message.firstElementChild.textContent = whyFixed(spec);
    else {
      for (const field of controls())
        if (document.activeElement !== field) setValue(field, spec.read(field.dataset.field));
      for (const rows of pairs) rows.fill(spec.pairs(rows.field));
      summarize(spec);
    }
  }

  // Show what a batch script says, which is edited as text only.
  function fillFrom(spec) {
    for (const field of controls()) setValue(field, spec.read(field.dataset.field));
  }

  // Open the folded sections that hold something, except labels, which are seldom changed.
  function openFilled() {
    for (const fold of folds)
      if (fold.querySelector("[data-row], [data-pairs]"))
        fold.open = pairs.some(
          (rows) => rows.field !== "labels" && fold.contains(rows.element) && rows.size > 0,
        );
  }

  // Say below the command where its inputs and workspaces are.
  function showPaths(spec) {
    const names = [
      ...spec.pairs("inputs").map(([name]) => variable("INPUT", name)),
      ...spec.pairs("workspaces").map(([name]) => variable("WORKSPACE", name)),
    ];
    paths.hidden = !names.length;
    paths.textContent = names.length
      ? say("The data is at {names}.", { context: "text, new-job", names: names.join(", ") })
      : "";
    command.placeholder = names.length ? `python train.py --data "${names[0]}"` : "python train.py";
  }

  // Say what a folded section holds.
  function summarize(spec) {
    showPaths(spec);
    for (const fold of folds) {
      const shown = [...fold.querySelectorAll("[data-field]")]
        .filter((field) => field.value && field.value !== field.dataset.default)
        .map(
          (field) =>
            `${field.closest(".field").firstElementChild.textContent.trim()}: ${field.value}`,
        );
      for (const rows of pairs)
        if (fold.contains(rows.element))
          shown.push(...spec.pairs(rows.field).map(([name]) => name));
      fold.querySelector("[data-summary]").textContent =
        shown.join(", ") || say("none", { context: "text, new-job" });
    }
  }

  fields.addEventListener("input", ({ target }) => {
    const { field, default: standard } = target.dataset;
    if (!field) return;
    const value = target.value;
    const spec = write((found) =>
      found.write(field, value === standard ? "" : value.trim() && value),
    );
    if (field.startsWith("accelerators.")) fill(spec);
  });

  const offerSecrets = (names) => {
    for (const rows of pairs) if (rows.element.dataset.pairs === "secrets") rows.offer(names);
  };
  return { fill, fillFrom, openFilled, summarize, offerSecrets };
}

const variable = (kind, name) =>
  `$MUSTER_${kind}_${name.toUpperCase().replaceAll(/[^A-Z0-9_]/g, "_")}`;

const whyFixed = ({ isScript, problem }) =>
  isScript
    ? say("This is a batch script. Edit it as text, or convert it to use the form.")
    : `${say("line {n}", { context: "text, new-job", n: problem.line })}: ${problem.message}. ${say("Fix the YAML to use the form again.")}`;

function setValue(field, value) {
  if (field.matches("select")) {
    const given = value || field.dataset.default || "";
    if (![...field.options].some((option) => option.value === given))
      field.add(new Option(given, given));
    field.value = given;
  } else if (field.value !== value) field.value = value;
}
