// Limits edited in place: a click on a limit shows an input; Enter saves, Esc cancels. An empty
// input removes the limit. Links lead to the page of the subject, where the same can be done.
import "./drawer.js";
import { locale, say } from "./words.js";

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-limit]");
  if (!link || event.metaKey || event.ctrlKey) return;
  event.preventDefault();
  edit(link);
});

function edit(link) {
  const { who, resource, limit, label } = link.dataset;
  const form = Object.assign(document.createElement("form"), {
    method: "post",
    action: location.pathname,
    className: "limit-edit",
  });
  form.dataset.swap = "";
  const input = Object.assign(document.createElement("input"), {
    type: "text",
    name: "limit",
    value: limit === "none" ? "" : limit,
    placeholder: say("No limit", { context: "placeholder" }),
    autocomplete: "off",
    title: say("Enter saves, Esc cancels. Empty removes the limit."),
  });
  input.setAttribute("aria-label", label);
  input.dataset.focus = link.dataset.focus;
  const save = Object.assign(document.createElement("button"), {
    className: "btn small primary",
    textContent: say("Save", { context: "button" }),
  });
  const hidden = {
    csrfmiddlewaretoken: document.querySelector("[name=csrfmiddlewaretoken]").value,
    do: "set",
    back: location.pathname + location.search,
    was: limit,
    who,
    resource,
  };
  for (const [name, value] of Object.entries(hidden))
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
  form.append(input, save);
  form.addEventListener("formdata", ({ formData }) => {
    if (!input.value.trim()) formData.set("limit", "none");
  });
  const cancel = () => {
    form.replaceWith(link);
    link.focus();
  };
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    cancel();
  });
  form.addEventListener("focusout", (event) => {
    const isInside = form.contains(event.relatedTarget);
    if (!isInside && form.isConnected && !form.dataset.sent && !save.disabled) setTimeout(leave);
  });
  // Leaving an unchanged input closes it.
  const leave = () => {
    if (!form.isConnected || form.contains(document.activeElement) || save.disabled) return;
    if (input.value === input.defaultValue) form.replaceWith(link);
  };
  input.defaultValue = input.value;
  link.replaceWith(form);
  input.select();
  input.focus();
}

// The limits of what is selected in the table are edited in a dialog, which names it.
function showChosen() {
  const button = document.querySelector("[data-edit-limits]");
  if (!button) return;
  const boxes = [...document.querySelectorAll("input[name=who][form=edit-limits-form]:checked")];
  const names = boxes.map((box) => box.closest("td").querySelector(".title").textContent.trim());
  const label = say("Edit limits", { context: "button" });
  button.disabled = !names.length;
  button.classList.toggle("primary", names.length > 0);
  button.textContent = names.length ? `${label} (${names.length})` : label;
  const dialog = document.getElementById("edit-limits");
  if (!names.length && dialog.open) dialog.close(); // opened by a link: for nobody
  showLimits(boxes.map((box) => box.value));
  document.querySelector("[data-chosen]").textContent = say("For: {names}", {
    context: "whose limits",
    names: new Intl.ListFormat(locale, { type: "unit" }).format(names),
  });
}

// The fields show the limits that all of them have. What is not edited is kept.
function showLimits(whose) {
  for (const row of document.querySelectorAll("#edit-limits tr:has([name=limit])")) {
    const field = row.querySelector("[name=limit]");
    const { value: resource } = row.querySelector("[name=resource]");
    const found = new Set(
      whose.map(
        (who) =>
          document.querySelector(
            `a[data-limit][data-who="${CSS.escape(who)}"][data-resource="${CSS.escape(resource)}"]`,
          )?.dataset.limit,
      ),
    );
    const [same = "none"] = found.size === 1 ? found : ["different"]; // a class without a column has no limit
    field.value = field.defaultValue = ["none", "different"].includes(same) ? "" : same;
    field.placeholder =
      same === "none"
        ? say("No limit", { context: "placeholder" })
        : same === "different"
          ? say("Unchanged", { context: "placeholder" })
          : "";
    const guaranteed = row.querySelector("[name=guaranteed]:not([type=hidden])");
    if (guaranteed) guaranteed.placeholder = say("Unchanged", { context: "placeholder" });
  }
}
document
  .getElementById("edit-limits-form")
  ?.addEventListener("formdata", ({ formData, target }) => {
    formData.delete("limit");
    for (const { value, defaultValue } of target.querySelectorAll("[name=limit]"))
      formData.append("limit", value === defaultValue ? "" : value.trim() || "none");
  });
document.addEventListener("change", ({ target }) => target.name === "who" && showChosen());
showChosen();

// A request for more says what the limit is now.
const ask = document.getElementById("request-more-form");
if (ask) {
  const limits = JSON.parse(document.getElementById("limits-now").textContent);
  const { who, resource, amount } = ask.elements;
  const show = () => {
    const now = limits[`${who.value}/${resource.value}`];
    ask.querySelector("[data-now]").textContent = now?.text ?? say("No limit now.");
    amount.placeholder = now?.example ?? "";
  };
  ask.addEventListener("change", show);
  show();
}

// A pending job's page leads here with a request filled in.
document.querySelector("dialog[data-shown]")?.showModal();
