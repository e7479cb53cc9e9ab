// Rows of name and value for a mapping of the spec: environment variables, secrets, labels.
// A template with a third part, such as `mode` of workspaces, has entries of three.
// A row without a name is not written yet.
import { say } from "./words.js";

// Keep the first row of each name, in the order of the rows: a name being typed may be another's for a moment.
export function uniquePairs(pairs) {
  const found = new Map();
  for (const entry of pairs) if (entry[0] && !found.has(entry[0])) found.set(entry[0], entry);
  return [...found.values()];
}

export function createPairs(element, onChange) {
  const body = element.querySelector("[data-rows]"),
    template = element.querySelector("template");
  let options = [];

  const rows = () => [...body.children];
  const read = (row) => [...row.querySelectorAll("[data-part]")].map((field) => field.value.trim());
  const entries = () => uniquePairs(rows().map(read));

  function add(name = "", value = "", mode = "") {
    const row = template.content.firstElementChild.cloneNode(true);
    body.append(row);
    const field = row.querySelector("[data-part=value]");
    row.querySelector("[data-part=name]").value = name;
    if (field.matches("select")) setOptions(field, value);
    else field.value = value;
    const more = row.querySelector("[data-part=mode]");
    if (more) more.value = mode;
    return row;
  }

  function setOptions(field, value) {
    const values = value && !options.includes(value) ? [value, ...options] : options;
    field.replaceChildren(
      new Option(say("Choose a secret", { context: "choice" }), ""),
      ...values.map((v) => new Option(v, v)),
    );
    field.value = value;
  }

  body.addEventListener("input", () => onChange(entries()));
  body.addEventListener("click", (event) => {
    const remove = event.target.closest("[data-remove]");
    if (!remove) return;
    remove.closest("[data-row]").remove();
    onChange(entries());
    element.querySelector("[data-add]").focus();
  });
  element.querySelector("[data-add]").addEventListener("click", () => {
    add().querySelector("[data-part=name]").focus();
  });

  return {
    element,
    field: element.dataset.pairs,
    get size() {
      return rows().length;
    },
    fill(pairs) {
      if (JSON.stringify(pairs) === JSON.stringify(entries())) return;
      body.replaceChildren();
      for (const entry of pairs) add(...entry);
    },
    offer(values) {
      options = values;
      for (const row of rows()) {
        const field = row.querySelector("select[data-part=value]");
        if (field) setOptions(field, field.value);
      }
      element.querySelector("[data-none]")?.toggleAttribute("hidden", values.length > 0);
    },
  };
}
