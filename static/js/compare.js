// Comparison of runs: one selection for charts, table and plots.
import "./charts.js";
import "./plots.js";

const root = document.querySelector("[data-compare]");
const charts = root?.querySelector("[data-charts]")?.charts;
const plots = document.querySelector("[data-plots]")?.plots;

for (const check of root?.querySelectorAll("[data-shows]") ?? []) {
  const id = check.dataset.shows;
  const row = check.closest("[data-run]");
  check.checked = !charts?.hidden.has(id);
  if (!check.checked) plots?.show(id, false);
  check.addEventListener("change", () => {
    charts?.toggle(id, check.checked);
    plots?.show(id, check.checked);
  });
  for (const [event, on] of [
    ["mouseenter", true],
    ["mouseleave", false],
    ["focusin", true],
    ["focusout", false],
  ])
    row.addEventListener(event, () => plots?.mark(id, on));
}
