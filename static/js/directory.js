// Directory pages: progress of a sync run, and the editor of group rules (group search, ordering,
// and always one empty row).
const run = document.querySelector("[data-run]");
if (run) watch();

// Poll until the run ends, then reload the page.
async function watch() {
  for (;;) {
    await new Promise((resolve) => {
      setTimeout(resolve, 1000);
    });
    try {
      const got = await fetch(run.dataset.run, { headers: { Accept: "application/json" } });
      const told = await got.json();
      if (got.status === 404 || told.ended_at) return location.reload();
      if (!got.ok) return;
      run.querySelector("[data-count]").textContent = told.people_read.toLocaleString();
    } catch {
      /* retry in a second */
    }
  }
}

// With an address the groups are searched there; without one, a test has found them (datalist#groups).
const form = document.querySelector("[data-rules]");
const lines = () => [...(form?.querySelectorAll("[data-rule]") ?? [])];
let asking = 0;

form?.querySelectorAll("[data-move], [data-drop]").forEach((button) => {
  button.hidden = false;
});

// Show a name that is too long for its field below it.
function show(line) {
  const field = line.querySelector("[name=group]"),
    whole = line.querySelector("[data-whole]");
  whole.textContent = field.value;
  whole.hidden = field.scrollWidth <= field.clientWidth;
}
const all = () => lines().forEach(show);
all();
addEventListener("resize", all);

form?.addEventListener("click", (event) => {
  const line = event.target.closest("[data-rule]"),
    move = event.target.closest("[data-move]")?.dataset.move;
  if (move === "-1" && line.previousElementSibling) line.previousElementSibling.before(line);
  else if (move === "1" && line.nextElementSibling) line.nextElementSibling.after(line);
  else if (event.target.closest("[data-drop]")) drop(line);
  else return;
  event.target.closest("button")?.focus();
});

form?.addEventListener("input", (event) => {
  if (event.target.name !== "group") return;
  show(event.target.closest("[data-rule]"));
  const last = lines().at(-1);
  if (last.querySelector("[name=group]").value) last.after(empty(last));
  clearTimeout(asking);
  asking = setTimeout(() => search(event.target.value), 200);
});

function empty(line) {
  const made = line.cloneNode(true);
  made.querySelector("[name=group]").value = "";
  made.querySelector("[data-whole]").hidden = true;
  return made;
}

function drop(line) {
  if (lines().length > 1) line.remove();
  else {
    line.querySelector("[name=group]").value = "";
    show(line);
  }
}

async function search(typed) {
  const list = document.querySelector("#groups");
  if (!form.dataset.rules || typed.length < 2 || typed.includes("=")) return;
  try {
    const got = await fetch(`${form.dataset.rules}?q=${encodeURIComponent(typed)}`, {
      headers: { Accept: "application/json" },
    });
    const found = (await got.json()).items ?? [];
    list.replaceChildren(
      ...found.map((name) => Object.assign(document.createElement("option"), { value: name })),
    );
  } catch {
    /* suggestions are optional */
  }
}
