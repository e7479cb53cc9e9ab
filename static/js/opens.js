// Expandable rows: click, Enter or Space toggles the detail row. Links and text selection still work.

export function bind(table) {
  table.addEventListener("click", (event) => {
    const row = event.target.closest("tr.opener");
    if (row && !event.target.closest("a, button") && !String(getSelection())) toggle(row);
  });
  table.addEventListener("keydown", (event) => {
    if ((event.key === "Enter" || event.key === " ") && event.target.matches("tr.opener")) {
      event.preventDefault();
      toggle(event.target);
    }
  });
}

export function toggle(row) {
  const behind = row.nextElementSibling;
  behind.hidden = !behind.hidden;
  row.setAttribute("aria-expanded", String(!behind.hidden));
}

if (typeof document !== "undefined")
  for (const table of document.querySelectorAll("table[data-opens]")) bind(table);
