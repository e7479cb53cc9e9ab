// New-job page: form and YAML stay in sync; errors are shown next to their line while typing, and
// the effect on quotas before submitting.
import { isEnglish, say } from "./words.js";
import * as yaml from "../vendor/yaml.js";

const root = document.querySelector("[data-new-job]");
if (root) {
  const text = root.querySelector("textarea[name=yaml]"),
    gutter = root.querySelector(".gutter"),
    faults = root.querySelector("[data-faults]");
  const cost = root.querySelector("[data-cost]"),
    send = root.querySelector("button.primary"),
    team = root.querySelector("[name=team]");
  const csrf = root.querySelector("[name=csrfmiddlewaretoken]").value;
  const image = root.querySelector("[data-image]");
  let asked = 0,
    timer = 0,
    isFilling = false,
    settling = 0,
    looks = 0,
    isRefused = faults.children.length > 0; // keep the errors of a rejected submission until the text changes
  const LOOKS = 6; // a registry may take three seconds
  const TEXTS = new Set(["name", "image", "run", "policy.pool"]); // in these, `2` is text; elsewhere a number

  function numbers(bad = new Set()) {
    const count = text.value.split("\n").length;
    gutter.replaceChildren(
      ...Array.from({ length: count }, (_, i) => {
        const line = document.createElement(bad.has(i + 1) ? "b" : "span");
        line.textContent = `${i + 1}\n`;
        return line;
      }),
    );
    gutter.scrollTop = text.scrollTop;
  }

  // `settled`: typing has paused, so the image name is complete and its registry may be asked.
  async function check(settled = false) {
    clearTimeout(settling);
    const mine = ++asked;
    const answer = await fetch(root.dataset.validate, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRFToken": csrf },
      body: JSON.stringify({ yaml: text.value, team: team.value, settled }),
    });
    if (mine !== asked || !answer.ok) return;
    const told = await answer.json();
    numbers(new Set(told.errors.map((e) => e.line)));
    if (!isRefused || told.errors.length)
      faults.replaceChildren(
        ...told.errors.slice(0, 8).map((error) => row(error)),
        ...told.notes.slice(0, 8).map((note) => row(note, "muted")),
      );
    send.disabled = !told.ok;
    if (told.ok) {
      price(told.cost);
      fill(told.spec);
    }
    tellImage(told.image);
  }

  function tellImage(told) {
    image.textContent = told?.text ?? "";
    image.className = told?.ok === false ? "form-error" : told?.doubtful ? "warn-text" : "";
    if (told && told.ok === null && told.text === "" && looks++ < LOOKS)
      settling = setTimeout(() => check(true), 1000);
  }

  function row(fault, kind = "") {
    const item = document.createElement("li");
    if (kind) item.className = kind;
    const where = document.createElement("b");
    where.textContent = [fault.line ? say("line {n}", { n: fault.line }) : "", fault.field]
      .filter(Boolean)
      .join(", ");
    item.append(where, where.textContent ? ": " : "", fault.message);
    if (fault.line) item.addEventListener("click", () => goTo(fault.line));
    return item;
  }

  function goTo(line) {
    const at =
      text.value
        .split("\n")
        .slice(0, line - 1)
        .join("\n").length + (line > 1 ? 1 : 0);
    text.focus();
    text.setSelectionRange(at, at);
  }

  function price(entries) {
    cost.replaceChildren(
      ...entries
        .filter((e) => e.resource !== "jobs")
        .map((entry) => {
          const part = document.createElement("div");
          const tasks = entry.tasks > 1 ? ` × ${say("{n} tasks", { n: entry.tasks })}` : "";
          const limit =
            entry.limit === null
              ? say("no limit")
              : say("{scope} holds {used} of {limit}", {
                  scope: whose(entry.scope),
                  used: format(entry.used, entry.unit),
                  limit: format(entry.limit, entry.unit),
                });
          part.textContent = `${isEnglish ? entry.text : format(entry.ask, entry.unit)}${tasks} · ${limit}`;
          if (!entry.fits) part.className = "form-error";
          return part;
        }),
    );
  }

  const whose = (scope) =>
    ({ org: say("organization"), team: say("team"), user: say("you") })[scope] ?? scope;
  const counted = { cores: (n) => say("{n} cores", { n }), GPUs: (n) => say("{n} GPUs", { n }) };
  const size = (value) =>
    value < 2 ** 30
      ? `${Number((value / 2 ** 20).toFixed(1))} MiB`
      : `${Number((value / 2 ** 30).toFixed(1))} GiB`;
  const format = (value, unit) =>
    unit === "bytes" ? size(value) : (counted[unit]?.(value) ?? `${value} ${unit}`);

  // Form fields are a view of the YAML: they read the validated spec and write one key at a time.
  function fill(spec) {
    isFilling = true;
    const resources = spec.resources ?? {},
      policy = spec.policy ?? {};
    const known = {
      name: spec.name ?? "",
      image: spec.image ?? "",
      run: spec.run ?? "",
      "resources.accelerators": show(resources.accelerators),
      "resources.cpus": resources.cpus ?? "",
      "resources.memory": resources.memory ?? "",
      "policy.max_runtime": policy.max_runtime ?? "",
      "policy.priority": policy.priority ?? "normal",
      "policy.pool": policy.pool ?? "",
      num_nodes: (spec.num_nodes ?? 1) > 1 ? spec.num_nodes : "",
    };
    for (const field of root.querySelectorAll("[data-field]"))
      if (document.activeElement !== field && field.dataset.field in known)
        field.value = known[field.dataset.field];
    isFilling = false;
  }

  const show = (value) =>
    value === undefined
      ? ""
      : typeof value === "object"
        ? Object.entries(value)
            .map(([k, v]) => `${k}:${v}`)
            .join()
        : value;

  // Returns null for scripts and invalid YAML, which the form must not change.
  function parse(path) {
    if (text.value.startsWith("#!")) return null;
    const doc = yaml.parseDocument(text.value),
      isMapping = (node) => node == null || yaml.isMap(node);
    if (doc.errors.length || !isMapping(doc.contents)) return null;
    return path.length === 1 || isMapping(doc.get(path[0])) ? doc : null;
  }

  // Synchronous, so that a click on Submit right after a change includes it.
  function write(field, value) {
    const path = field.split("."),
      doc = parse(path);
    if (!doc)
      return faults.replaceChildren(
        row({ message: say("The form changes valid YAML only. Change the text itself.") }),
      );
    if (value === "" || (field === "policy.priority" && value === "normal")) remove(doc, path);
    else set(doc, path, TEXTS.has(field) ? lines(value) : scalar(value));
    text.value = doc.contents ? doc.toString({ lineWidth: 0, flowCollectionPadding: false }) : "";
    numbers();
    later(60);
  }

  function set(doc, path, value) {
    if (doc.contents === null) doc.contents = doc.createNode({});
    if (path.length > 1 && doc.get(path[0]) == null) doc.set(path[0], doc.createNode({}));
    if (path[0] === "name" && !doc.has("name"))
      doc.contents.items.unshift(doc.createPair("name", value));
    else doc.setIn(path, value);
  }

  function remove(doc, path) {
    if (!doc.hasIn(path)) return;
    doc.deleteIn(path);
    if (path.length > 1 && !doc.get(path[0]).items.length) doc.delete(path[0]);
  }

  const lines = (value) => (value.includes("\n") ? value.replace(/\n*$/, "\n") : value);
  const scalar = (value) => {
    const read = yaml.parseDocument(value).contents;
    return typeof read?.value === "number" ? read.value : value;
  };

  function later(wait = 250) {
    asked++;
    looks = 0;
    isRefused = false;
    clearTimeout(timer);
    timer = setTimeout(check, wait);
  }
  text.addEventListener("input", () => {
    numbers();
    later();
  });
  text.addEventListener("scroll", () => {
    gutter.scrollTop = text.scrollTop;
  });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Tab" && !event.shiftKey) {
      event.preventDefault();
      document.execCommand("insertText", false, "  ");
    }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      root.requestSubmit(send);
    }
  });
  root.addEventListener("input", (event) => {
    const field = event.target.dataset.field;
    if (field && !isFilling) write(field, event.target.value);
  });
  team.addEventListener("change", () => later(0));
  numbers();
  check();

  const dry = root.querySelector("[data-dry]"),
    told = root.querySelector("[data-rehearsal]");
  dry?.addEventListener("click", async () => {
    const answer = await fetch(root.dataset.dry, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRFToken": csrf },
      body: JSON.stringify({ yaml: text.value, team: team.value }),
    });
    const body = await answer.json();
    const list = document.createElement("ul");
    for (const c of body.checks ?? [{ ok: false, name: "spec", text: body.detail }]) {
      const item = document.createElement("li");
      item.textContent = `${c.ok ? "✓" : c.ok === null ? "–" : "✗"} ${c.name}: ${c.text}`;
      item.className = c.ok === false ? "form-error" : "";
      list.append(item);
    }
    const sent = document.createElement("pre");
    sent.textContent = body.launch ?? "";
    told.replaceChildren(list, sent);
    told.hidden = false;
    told.scrollIntoView({ block: "nearest" });
  });
}
