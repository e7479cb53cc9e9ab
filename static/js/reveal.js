// A masked secret with a button that shows it; a value of several lines needs a text area, masked likewise.
import { say } from "./words.js";

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-reveal]");
  if (button) reveal(button, button.getAttribute("aria-pressed") !== "true");
  const lines = event.target.closest("[data-several-lines]");
  if (lines) severalLines(lines);
});

function reveal(button, isShown) {
  const field = button.closest(".secret").querySelector("input, textarea");
  if (field.matches("input")) field.type = isShown ? "text" : "password";
  else field.classList.toggle("masked", !isShown);
  button.setAttribute("aria-pressed", String(isShown));
  button.textContent = isShown
    ? say("Hide", { context: "button" })
    : say("Show", { context: "button" });
}

function severalLines(button) {
  const field = button.closest(".secret").querySelector("input");
  const area = document.createElement("textarea");
  for (const { name, value } of field.attributes)
    if (name !== "type") area.setAttribute(name, value);
  area.rows = 4;
  area.spellcheck = false;
  area.value = field.value;
  area.classList.add("masked");
  reveal(button.closest(".secret").querySelector("[data-reveal]"), false);
  field.replaceWith(area);
  button.remove();
  area.focus();
}
