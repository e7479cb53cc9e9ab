// A drop anywhere on the page goes to the form; one in a dialog opens it.
import { droppedFiles } from "../dropped-files.js";

export function createDropZone(form, onFiles) {
  const zone = form.querySelector("[data-drop]"),
    dialog = form.closest("dialog");
  let depth = 0;
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  const over = (isOver) => zone.classList.toggle("is-over", isOver);
  const openDialog = () => dialog && !dialog.open && dialog.showModal();
  document.addEventListener("dragenter", (event) => {
    if (!hasFiles(event)) return;
    depth += 1;
    openDialog();
    over(true);
  });
  document.addEventListener("dragleave", (event) => {
    if (hasFiles(event) && --depth <= 0) over(false);
  });
  document.addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
  document.addEventListener("drop", async (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth = 0;
    over(false);
    openDialog();
    onFiles(await droppedFiles(event.dataTransfer));
  });
  for (const link of document.querySelectorAll("[data-opens-upload], dialog [data-cancel]"))
    link.addEventListener("click", (event) => {
      if (!dialog) return;
      event.preventDefault();
      if (dialog.open) dialog.close();
      else dialog.showModal();
    });
}
