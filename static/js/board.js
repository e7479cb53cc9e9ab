// Arrange the panels of a page (templates/billing/_board.html): by dragging, with buttons, or with the
// arrow keys on a panel's buttons. The order is in the address and is kept for the person.
import { say } from "./words.js";

const find = (selector) => document.querySelector(selector);
const board = () => find("[data-board]");
const panels = () => [...board().querySelectorAll("[data-panel]")];
const hidden = () => board().dataset.hidden.split(",").filter(Boolean);
const titleOf = (panel) => panel.getAttribute("aria-label");
let isArranging = false;
let dragged = null;

const value = () =>
  [...panels().map((panel) => panel.dataset.panel), ...hidden().map((name) => `-${name}`)].join(
    ",",
  );

function show() {
  if (!board()) return;
  board().classList.toggle("is-arranging", isArranging);
  for (const panel of panels()) panel.draggable = isArranging;
  find("[data-board-arrange]").setAttribute("aria-pressed", isArranging);
}

function address(text) {
  const url = new URL(location.href);
  if (text) url.searchParams.set("panels", text);
  else url.searchParams.delete("panels");
  return url.href.replaceAll("%2C", ",");
}

async function keep(text, status) {
  history.replaceState(history.state, "", address(text));
  find("[data-board-status]").textContent = status;
  const body = new FormData();
  body.set("csrfmiddlewaretoken", board().querySelector("[name=csrfmiddlewaretoken]").value);
  body.set("panels", text);
  // The answer is a redirect to the page, which is there already.
  const asked = { method: "POST", body, redirect: "manual" };
  const answer = await fetch(location.href, asked).catch(() => null);
  if (answer?.type !== "opaqueredirect")
    find("[data-board-status]").textContent = say("The arrangement wasn't saved.");
}

// Ask the server for panels that the page does not have.
const reload = () => document.dispatchEvent(new Event("boardchange"));

function keepPlace(panel) {
  const all = panels();
  const place = { name: titleOf(panel), n: all.indexOf(panel) + 1, all: all.length };
  return keep(value(), say("{name}: place {n} of {all}", { context: "text, board", ...place }));
}

function move(panel, step, button) {
  const all = panels();
  const to = all.indexOf(panel) + step;
  if (to < 0 || to >= all.length) return;
  if (step < 0) all[to].before(panel);
  else all[to].after(panel);
  button.focus();
  panel.scrollIntoView({ block: "nearest" });
  keepPlace(panel);
}

async function hide(panel) {
  const next = panel.nextElementSibling ?? panel.previousElementSibling;
  board().dataset.hidden = [...hidden(), panel.dataset.panel].join(",");
  panel.remove();
  next?.querySelector("[data-board-hide]")?.focus();
  await keep(value(), say("{name} is hidden", { context: "text, board", name: titleOf(panel) }));
  reload();
}

async function unhide(name) {
  board().dataset.hidden = hidden()
    .filter((one) => one !== name)
    .join(",");
  const text = [
    ...panels().map((panel) => panel.dataset.panel),
    name,
    ...hidden().map((one) => `-${one}`),
  ].join(",");
  await keep(text, "");
  reload();
}

async function reset() {
  await keep("", say("The default order"));
  reload();
}

async function share(button) {
  const text = address(value());
  await navigator.clipboard?.writeText(text).catch(() => {});
  history.replaceState(history.state, "", text);
  const before = button.textContent;
  button.textContent = button.dataset.done;
  setTimeout(() => (button.textContent = before), 2000);
}

document.addEventListener("click", (event) => {
  const on = (name) => event.target.closest(`[data-board-${name}]`);
  const panel = event.target.closest("[data-panel]");
  if (on("arrange")) {
    isArranging = !isArranging;
    show();
  } else if (on("share")) share(on("share"));
  else if (on("move")) move(panel, Number(on("move").dataset.boardMove), on("move"));
  else if (on("hide")) hide(panel);
  else if (on("show")) unhide(on("show").dataset.boardShow);
  else if (on("reset")) reset();
});
document.addEventListener("keydown", (event) => {
  const button = event.target.closest?.(".panel-moves button");
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (!button || !step) return;
  event.preventDefault();
  move(button.closest("[data-panel]"), step, button);
});
document.addEventListener("dragstart", (event) => {
  const panel = event.target.closest?.("[data-panel]");
  if (!isArranging || !panel) return;
  dragged = panel;
  event.dataTransfer.effectAllowed = "move";
  event.dataTransfer.setData("text/plain", titleOf(panel));
  panel.classList.add("is-dragged");
});
function place(event) {
  if (!dragged) return;
  event.preventDefault();
  const over = event.target.closest?.("[data-panel]");
  if (!over || over === dragged) return;
  const box = over.getBoundingClientRect();
  const isBeside = Math.abs(box.top - dragged.getBoundingClientRect().top) < 2;
  const isAfter = isBeside
    ? event.clientX > box.left + box.width / 2
    : event.clientY > box.top + box.height / 2;
  if (isAfter) over.after(dragged);
  else over.before(dragged);
}

function drop(event) {
  if (!dragged) return;
  event.preventDefault();
  const panel = dragged;
  dragged = null;
  panel.classList.remove("is-dragged");
  keepPlace(panel);
}

document.addEventListener("dragenter", place);
document.addEventListener("dragover", place);
document.addEventListener("drop", drop);
document.addEventListener("dragend", drop);
document.addEventListener("boardchanged", show);
