// Whether the job would start: one line beside the button, and the faults beside their fields, at
// their lines and in the list under the editor.
import { atClock } from "../time.js";
import { say } from "../words.js";

// `labelOf` names a field of the spec as the form does.
export function createVerdict(box, labelOf) {
  function tell(kind, text, lead = "") {
    box.className = `verdict ${kind}`;
    box.querySelector(".state").className = `state ${kind === "idle" ? "canceled" : kind}`;
    box.querySelector("strong").textContent = lead || text;
    box.querySelector("span[data-why]").textContent = lead ? text : "";
  }

  function judge({ ok, errors, start: begin }) {
    if (!ok) tell("failed", located(errors[0], labelOf), say("Can't be submitted."));
    else if (!begin) tell("idle", say("Choose a team."));
    else if (!begin.ok) tell("failed", refused(begin, labelOf), say("Can't be submitted."));
    else if (begin.starts_now) tell("succeeded", begin.text);
    else tell("queued", `${begin.text} ${whenStarts(begin.expected)}`, say("Would wait."));
  }

  return {
    tell,
    judge,
    focus: () => box.focus({ preventScroll: true }),
    get hasFocus() {
      return document.activeElement === box;
    },
  };
}

const whenStarts = (expected) =>
  expected?.at ? atClock(expected.text, new Date(expected.at)) : (expected?.text ?? "");

// `goTo` shows a line of the editor.
export function createFaults(root, editor, goTo) {
  const slots = [...root.querySelectorAll("[data-error]")];

  function show(found, notes) {
    const errors = found.filter((e, n) => n || e.line || e.field); // the first is said beside the button
    const info = notes.map((note) => ({ ...note, severity: "info" }));
    editor.mark([...errors, ...info].map((e) => ({ ...e, message: described(e) })));
    root
      .querySelector("[data-faults]")
      .replaceChildren(
        ...errors.slice(0, 8).map((error) => row(error, slotOf(error.field) ? "is-at-field" : "")),
        ...notes.slice(0, 8).map((note) => row(note, "muted")),
      );
    for (const slot of slots) mark(slot, "");
    for (const error of errors) {
      const slot = slotOf(error.field);
      if (slot && !slot.textContent) mark(slot, error.message);
    }
  }

  function slotOf(field) {
    const known = field === "resources" ? "resources.accelerators" : field;
    return slots.find(({ dataset: { error } }) =>
      [error, `${error}.`, `${error}[`].some((name, n) =>
        n ? known.startsWith(name) : known === name,
      ),
    );
  }

  function mark(slot, message) {
    slot.textContent = message;
    const field = slot.closest(".field")?.querySelector("input, select, textarea");
    field?.setAttribute("aria-invalid", String(Boolean(message)));
    if (message) slot.closest("details")?.setAttribute("open", "");
  }

  function row(fault, kind = "") {
    const item = document.createElement("li");
    if (kind) item.className = kind;
    const where = document.createElement(fault.line ? "button" : "b");
    if (fault.line) {
      where.type = "button";
      where.className = "line-link";
      where.addEventListener("click", () => goTo(fault.line));
    }
    where.textContent = [
      fault.line ? say("line {n}", { context: "result of a check", n: fault.line }) : "",
      fault.field,
    ]
      .filter(Boolean)
      .join(", ");
    item.append(where, where.textContent ? ": " : "", fault.message);
    return item;
  }

  const labelOf = (field) =>
    slotOf(field)?.closest(".field")?.firstElementChild.textContent.trim() || field;

  return { show, labelOf };
}

function located({ field, message, line }, labelOf) {
  const said = described({ field: field && labelOf(field), message });
  return line ? `${say("line {n}", { context: "result of a check", n: line })}: ${said}` : said;
}
// What a check refuses: its field, which says why at its place or in the list, or else its text.
function refused({ text, errors }, labelOf) {
  const field = errors?.[0]?.field ?? "";
  return field
    ? say("Change {field}.", { context: "result of a check", field: labelOf(field) })
    : text;
}
const described = ({ field, message }) => (field ? `${field}: ${message}` : message);
