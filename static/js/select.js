// Selection of rows for bulk actions: all, a range with Shift, the whole row in select mode, which
// is how a phone selects. Rows have a checkbox of the form #bulk; its field `all` with [data-matching]
// stands for the rows of all pages.
import { say } from "./words.js";

const boxes = () => [...document.querySelectorAll("tbody input[type=checkbox][form=bulk]")];
export const chosen = () => boxes().filter((box) => box.checked);

let last = null;

// Show what is selected, in the rows and in the bar.
export function showSelection() {
  const all = boxes(),
    picked = chosen(),
    bar = document.getElementById("bulk");
  for (const box of all) box.closest("tr").classList.toggle("is-selected", box.checked);
  for (const head of document.querySelectorAll("[data-all]")) {
    head.checked = all.length > 0 && picked.length === all.length;
    head.indeterminate = picked.length > 0 && picked.length < all.length;
  }
  if (!bar) return;
  const matching = bar.querySelector("[data-matching]");
  const isWholePage = all.length > 0 && picked.length === all.length;
  if (matching && !isWholePage) matching.value = "";
  const isAll = Boolean(matching?.value);
  const number = isAll ? Number(matching.dataset.matching) : picked.length;
  bar.hidden = !picked.length;
  bar.querySelector("b").textContent = say("{n} selected", { context: "text, select", n: number });
  for (const button of bar.querySelectorAll("[data-action=select-matching]"))
    button.hidden = !isWholePage || isAll;
  for (const button of bar.querySelectorAll("[data-one-by-one]")) button.hidden = isAll;
  // What is done with a single row has its address there: data-of-one="rerun" is data-rerun of the row.
  for (const link of bar.querySelectorAll("[data-of-one]")) {
    const address = picked.length === 1 && picked[0].closest("tr").dataset[link.dataset.ofOne];
    link.hidden = isAll || !address;
    link.href = address || "";
  }
  for (const link of bar.querySelectorAll("[data-compare]")) {
    link.hidden = isAll || picked.length < 2 || picked.length > 10;
    const name = link.dataset.name ?? "jobs";
    link.href = `${link.dataset.compare}?${name}=${picked.map((box) => box.value).join(",")}`;
  }
}

function selectRange(box) {
  const all = boxes(),
    [from, to] = [all.indexOf(last), all.indexOf(box)].sort((a, b) => a - b);
  for (const one of all.slice(from, to + 1)) one.checked = box.checked;
}

function setMode(isOn) {
  document.body.classList.toggle("is-selecting", isOn);
  for (const button of document.querySelectorAll("[data-action=select]"))
    button.setAttribute("aria-pressed", String(isOn));
  if (isOn) return;
  for (const box of boxes()) box.checked = false;
  showSelection();
}

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-all]"))
    for (const box of boxes()) box.checked = event.target.checked;
  else if (!event.target.matches("tbody input[form=bulk]")) return;
  showSelection();
});

document.addEventListener("click", (event) => {
  const box = event.target.closest("tbody input[form=bulk]");
  if (box) {
    if (event.shiftKey && last && last !== box) selectRange(box);
    last = box;
    showSelection();
    return;
  }
  const mode = event.target.closest("[data-action=select]");
  if (mode) setMode(!document.body.classList.contains("is-selecting"));
  else if (event.target.closest("[data-action=deselect]")) setMode(false);
  else if (event.target.closest("[data-action=select-matching]")) {
    document.querySelector("#bulk [data-matching]").value = "1";
    showSelection();
    document.querySelector("#bulk button:not([hidden])").focus();
  } else if (document.body.classList.contains("is-selecting")) {
    const own = event.target.closest("tbody tr")?.querySelector("input[form=bulk]");
    if (!own || event.target.closest("button, label")) return;
    event.preventDefault();
    own.checked = !own.checked;
    showSelection();
  }
});
// After a step back, the browser has checked the boxes that were checked.
window.addEventListener("pageshow", showSelection);
