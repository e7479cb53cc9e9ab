// A new job: the form and the YAML say the same; what is wrong is said beside the line as one types, what it costs before the button.
import { isEnglish, say } from "./words.js";

const root = document.querySelector("[data-new-job]");
if (root) {
  const text = root.querySelector("textarea[name=yaml]"), gutter = root.querySelector(".gutter"), faults = root.querySelector("[data-faults]");
  const cost = root.querySelector("[data-cost]"), send = root.querySelector("button.primary"), team = root.querySelector("[name=team]");
  const csrf = root.querySelector("[name=csrfmiddlewaretoken]").value;
  const image = root.querySelector("[data-image]");
  let asked = 0, timer = 0, isFilling = false, settling = 0, looks = 0, isRefused = faults.children.length > 0; // why the last submission was refused stays until one types
  const LOOKS = 6; // a registry has three seconds

  function numbers(bad = new Set()) {
    const count = text.value.split("\n").length;
    gutter.replaceChildren(...Array.from({ length: count }, (_, i) => {
      const line = document.createElement(bad.has(i + 1) ? "b" : "span");
      line.textContent = `${i + 1}\n`;
      return line;
    }));
    gutter.scrollTop = text.scrollTop;
  }

  // `settled`: nobody has typed for a while, so the image's name is whole and its registry may be asked about it.
  async function check(settled = false) {
    clearTimeout(settling);
    const mine = ++asked;
    const answer = await fetch(root.dataset.validate, {
      method: "POST", headers: { "Content-Type": "application/json", "X-CSRFToken": csrf }, body: JSON.stringify({ yaml: text.value, team: team.value, settled }),
    });
    if (mine !== asked || !answer.ok) return;
    const told = await answer.json();
    numbers(new Set(told.errors.map((e) => e.line)));
    if (!isRefused || told.errors.length) faults.replaceChildren(...told.errors.slice(0, 8).map((error) => row(error)), ...told.notes.slice(0, 8).map((note) => row(note, "muted")));
    send.disabled = !told.ok;
    if (told.ok) { price(told.cost); fill(told.spec); }
    tellImage(told.image);
  }

  function tellImage(told) {
    image.textContent = told?.text ?? "";
    image.className = told?.ok === false ? "form-error" : told?.doubtful ? "warn-text" : "";
    if (told && told.ok === null && told.text === "" && looks++ < LOOKS) settling = setTimeout(() => check(true), 1000);
  }

  function row(fault, kind = "") {
    const item = document.createElement("li");
    if (kind) item.className = kind;
    const where = document.createElement("b");
    where.textContent = [fault.line ? say("line {n}", { n: fault.line }) : "", fault.field].filter(Boolean).join(", ");
    item.append(where, where.textContent ? ": " : "", fault.message);
    if (fault.line) item.addEventListener("click", () => goTo(fault.line));
    return item;
  }

  function goTo(line) {
    const at = text.value.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    text.focus();
    text.setSelectionRange(at, at);
  }

  function price(entries) {
    cost.replaceChildren(...entries.filter((e) => e.resource !== "jobs").map((entry) => {
      const part = document.createElement("div");
      const tasks = entry.tasks > 1 ? ` × ${say("{n} tasks", { n: entry.tasks })}` : "";
      const limit = entry.limit === null ? say("no limit")
        : say("{scope} holds {used} of {limit}", { scope: whose(entry.scope), used: format(entry.used, entry.unit), limit: format(entry.limit, entry.unit) });
      part.textContent = `${isEnglish ? entry.text : format(entry.ask, entry.unit)}${tasks} · ${limit}`;
      if (!entry.fits) part.className = "form-error";
      return part;
    }));
  }

  const whose = (scope) => ({ org: say("organization"), team: say("team"), user: say("you") })[scope] ?? scope;
  const counted = { cores: (n) => say("{n} cores", { n }), GPUs: (n) => say("{n} GPUs", { n }) };
  const size = (value) => (value < 2 ** 30 ? `${Number((value / 2 ** 20).toFixed(1))} MiB` : `${Number((value / 2 ** 30).toFixed(1))} GiB`);
  const format = (value, unit) => (unit === "bytes" ? size(value) : counted[unit]?.(value) ?? `${value} ${unit}`);

  // The form's fields are a view of the text: reading is by the checked spec, writing changes one key and leaves the rest alone.
  function fill(spec) {
    isFilling = true;
    const resources = spec.resources ?? {}, policy = spec.policy ?? {};
    const known = { name: spec.name ?? "", image: spec.image ?? "", run: spec.run ?? "", "resources.accelerators": show(resources.accelerators), "resources.cpus": resources.cpus ?? "", "resources.memory": resources.memory ?? "", "policy.max_runtime": policy.max_runtime ?? "", "policy.priority": policy.priority ?? "normal", "policy.pool": policy.pool ?? "", num_nodes: (spec.num_nodes ?? 1) > 1 ? spec.num_nodes : "" };
    for (const field of root.querySelectorAll("[data-field]")) if (document.activeElement !== field && field.dataset.field in known) field.value = known[field.dataset.field];
    isFilling = false;
  }

  const show = (value) => (value === undefined ? "" : typeof value === "object" ? Object.entries(value).map(([k, v]) => `${k}:${v}`).join() : value);

  function write(path, value) {
    const [first, second] = path.split(".");
    let lines = text.value.replace(/\n+$/, "").split("\n");
    if (second) lines = inBlock(lines, first, second, value);
    else if (first === "run") lines = setKey(lines, "", "run", value.includes("\n") ? `|\n${value.split("\n").map((l) => `  ${l}`).join("\n")}` : quoted(value), value === "");
    else lines = setKey(lines, "", first, quoted(value), value === "");
    text.value = `${lines.join("\n")}\n`;
    later(60);
  }

  function setKey(lines, indent, key, value, isGone) {
    const at = lines.findIndex((l) => l.startsWith(`${indent}${key}:`));
    let stop = at + 1;
    while (at >= 0 && stop < lines.length && (/^\s*$/.test(lines[stop]) ? /^\s/.test(lines[stop + 1] ?? "") : lines[stop].startsWith(`${indent} `))) stop++;
    const fresh = isGone ? [] : `${indent}${key}: ${value}`.split("\n");
    if (at < 0) return indent ? [...lines, ...fresh] : key === "name" ? [...fresh, ...lines] : [...lines, ...fresh];
    return [...lines.slice(0, at), ...fresh, ...lines.slice(stop)];
  }

  function inBlock(lines, block, key, value) {
    const at = lines.findIndex((l) => l.startsWith(`${block}:`));
    const isGone = value === "" || (key === "priority" && value === "normal");
    if (at < 0) return isGone ? lines : [...lines, `${block}:`, `  ${key}: ${quoted(value)}`];
    const flow = lines[at].match(/^(\w+):\s*\{(.*)\}\s*$/);
    if (flow) { // {a: 1, b: 2} on one line becomes a block, which is easier to change
      const inner = flow[2].split(",").filter((p) => p.trim()).map((p) => `  ${p.trim()}`);
      lines = [...lines.slice(0, at), `${block}:`, ...inner, ...lines.slice(at + 1)];
    }
    let stop = at + 1;
    while (stop < lines.length && /^(\s+|$)/.test(lines[stop])) stop++;
    const inside = setKey(lines.slice(at + 1, stop), "  ", key, quoted(value), isGone);
    const head = inside.some((l) => l.trim()) ? [lines[at].replace(/\{.*$/, "").trimEnd()] : [];
    return [...lines.slice(0, at), ...head, ...inside, ...lines.slice(stop)];
  }

  const quoted = (value) => (/^[\w./:+@ -]*$/.test(value) && !/^[\s-]|:\s|\s$|^$/.test(value) ? value : JSON.stringify(value));

  function later(wait = 250) { looks = 0; isRefused = false; clearTimeout(timer); timer = setTimeout(check, wait); }
  text.addEventListener("input", () => { numbers(); later(); });
  text.addEventListener("scroll", () => { gutter.scrollTop = text.scrollTop; });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Tab" && !event.shiftKey) { event.preventDefault(); document.execCommand("insertText", false, "  "); }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); root.requestSubmit(send); }
  });
  root.addEventListener("input", (event) => { const field = event.target.dataset.field; if (field && !isFilling) write(field, event.target.value); });
  team.addEventListener("change", () => later(0));
  numbers();
  check();

  const dry = root.querySelector("[data-dry]"), told = root.querySelector("[data-rehearsal]");
  dry?.addEventListener("click", async () => {
    const answer = await fetch(root.dataset.dry, { method: "POST", headers: { "Content-Type": "application/json", "X-CSRFToken": csrf }, body: JSON.stringify({ yaml: text.value, team: team.value }) });
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
