// Comparison of runs: one selection for charts, table and parallel coordinates.
import "./charts.js";
import { draw } from "./charts/parallel.js";

const root = document.querySelector("[data-compare]");
const charts = root?.querySelector("[data-charts]")?.charts;
const box = root?.querySelector("[data-parallel]");
const plot =
  box && draw(box, JSON.parse(document.getElementById(box.dataset.parallel).textContent));

for (const check of root?.querySelectorAll("[data-shows]") ?? []) {
  const id = check.dataset.shows;
  const row = check.closest("[data-run]");
  check.checked = !charts?.hidden.has(id);
  plot?.show(id, check.checked);
  check.addEventListener("change", () => {
    charts?.toggle(id, check.checked);
    plot?.show(id, check.checked);
  });
  for (const [event, on] of [
    ["mouseenter", true],
    ["mouseleave", false],
    ["focusin", true],
    ["focusout", false],
  ])
    row.addEventListener(event, () => plot?.mark(id, on));
}
