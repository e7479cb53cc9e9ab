// A checkbox in a table header that selects all rows.
for (const all of document.querySelectorAll("[data-tick-all]")) {
  const boxes = () => [...all.closest("table").querySelectorAll("tbody input[type=checkbox]")];
  all.addEventListener("change", () =>
    boxes().forEach((box) => {
      box.checked = all.checked;
    }),
  );
  all.closest("table").addEventListener("change", () => {
    all.checked = boxes().length > 0 && boxes().every((box) => box.checked);
  });
}
