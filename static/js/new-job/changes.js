// What a rerun changes.
import { say } from "../words.js";

export function showChanges(list, unchanged, changes) {
  if (!list || !changes) return;
  list.replaceChildren(...changes.map(row));
  unchanged.hidden = changes.length > 0;
}

function row({ field, before, after }) {
  const item = document.createElement("li"),
    code = document.createElement("code");
  code.textContent = field;
  item.append(code);
  const isLong = [before, after].some(
    (value) => value && (value.includes("\n") || value.length > 80),
  );
  if (isLong) item.append(say("changed", { context: "text, new-job" }));
  else
    for (const [tag, value] of [
      ["del", before],
      ["ins", after],
    ])
      if (value !== null)
        item.append(Object.assign(document.createElement(tag), { textContent: value }));
  return item;
}
