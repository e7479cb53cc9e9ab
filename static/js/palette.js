// Command palette (Ctrl-K): pages, actions, and jobs by number or name prefix.
const dialog = document.getElementById("palette");
if (dialog) {
  const input = dialog.querySelector("input"),
    list = dialog.querySelector("ul");
  const fixed = JSON.parse(document.getElementById("palette-items").textContent);
  let items = [],
    at = 0,
    asked = 0;

  const open = () => {
    if (dialog.open) return;
    dialog.showModal();
    input.value = "";
    show(fixed);
  };
  const matches = (item, q) =>
    q.split(/\s+/).every((word) => item.title.toLowerCase().includes(word));

  function show(found) {
    items = found.slice(0, 14);
    at = 0;
    list.replaceChildren(
      ...items.map((item, i) => {
        const row = document.createElement("li");
        row.setAttribute("role", "option");
        row.setAttribute("aria-selected", String(i === at));
        const note = document.createElement("small");
        note.textContent = item.note ?? "";
        row.append(item.title, note);
        row.addEventListener("click", () => go(i));
        return row;
      }),
    );
  }

  function move(step) {
    at = (at + step + items.length) % Math.max(items.length, 1);
    [...list.children].forEach((row, i) => row.setAttribute("aria-selected", String(i === at)));
    list.children[at]?.scrollIntoView({ block: "nearest" });
  }

  function go(i) {
    if (items[i]) location.assign(items[i].url);
  }

  input.addEventListener("input", async () => {
    const q = input.value.trim().toLowerCase(),
      mine = ++asked;
    const pages = fixed.filter((item) => matches(item, q));
    show(pages);
    if (!q) return;
    const answer = await fetch(`${dialog.dataset.url}?q=${encodeURIComponent(q)}`);
    if (answer.ok && mine === asked) show([...(await answer.json()).items, ...pages]);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      move(1);
    } else if (event.key === "ArrowUp") {
      event.preventDefault();
      move(-1);
    } else if (event.key === "Enter") {
      event.preventDefault();
      go(at);
    }
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  document.addEventListener("keydown", (event) => {
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      open();
    }
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-action=find]")) open();
  });
}
