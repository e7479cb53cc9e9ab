// New-job page: form and YAML are two views of one document. What a submission would answer is
// asked while one types, and shown beside the button, the field and the line.
import { gpuName } from "./gpu-names.js";
import { asCommand, asCurl } from "./job-commands.js";
import { createPairs } from "./pair-rows.js";
import { SpecDocument } from "./spec-document.js";
import { isEnglish, say } from "./words.js";
import { createEditor } from "./yaml-editor.js";

const root = document.querySelector("[data-new-job]");
if (root) start();

function start() {
  const find = (selector) => root.querySelector(selector);
  const area = find("textarea[name=yaml]"),
    team = find("[name=team]"),
    send = find("button[type=submit]"),
    fields = find("[data-fields]");
  const csrf = find("[name=csrfmiddlewaretoken]").value,
    parent = find("[name=parent]")?.value;
  const initial = area.value,
    stash = `new-job:${root.dataset.org}`;
  const LOOKS = 6; // a registry may take three seconds
  area.value = history.state?.yaml ?? initial; // what was submitted, after a step back
  let spec = new SpecDocument(area.value),
    answer = null, // of the last check
    asked = 0,
    timer = 0,
    looks = 0,
    isSending = false;

  // -- the text, which is what is submitted
  const editor = createEditor(find("[data-editor]"), {
    text: area.value,
    label: "YAML",
    onChange: (text) => {
      setText(text);
      fill();
    },
    onSubmit: submit,
  });
  area.hidden = true;
  area.removeAttribute("aria-label");

  function setText(text) {
    area.value = text;
    spec = new SpecDocument(text);
    later();
  }

  function write(change) {
    change();
    const text = spec.toString();
    editor.setText(text);
    setText(text);
    summarize();
  }

  // -- the form, a view of the document
  const pairs = [...root.querySelectorAll("[data-pairs]")].map((element) =>
    createPairs(element, (entries) => write(() => spec.setPairs(element.dataset.pairs, entries))),
  );

  // An error is a description of its control, not a part of its name.
  root.querySelectorAll("label.field").forEach((label, n) => {
    const control = label.querySelector("input, select, textarea"),
      error = label.querySelector("[data-error]");
    label.firstElementChild.id = `label-${n}`;
    control.setAttribute("aria-labelledby", `label-${n}`);
    if (!error) return;
    error.id = `error-${n}`;
    control.setAttribute("aria-describedby", error.id);
  });

  function fill() {
    const message = find("[data-unreadable]");
    const isFixed = spec.isScript || spec.problem !== null;
    for (const control of fields.querySelectorAll("[data-field], [data-part], button"))
      control.disabled = isFixed;
    message.hidden = !isFixed;
    find("[data-convert]").hidden = !spec.isScript;
    if (spec.isScript)
      message.firstElementChild.textContent = say(
        "This is a batch script. Edit it as text, or convert it to use the form.",
      );
    else if (spec.problem)
      message.firstElementChild.textContent = `${say("line {n}", { n: spec.problem.line })}: ${spec.problem.message}. ${say("Fix the YAML to use the form again.")}`;
    if (isFixed) return;
    for (const field of root.querySelectorAll("[data-field]"))
      if (document.activeElement !== field) setValue(field, spec.read(field.dataset.field));
    for (const rows of pairs) rows.fill(spec.pairs(rows.field));
    summarize();
  }

  function setValue(field, value) {
    if (field.matches("select")) {
      const given = value || field.dataset.default || "";
      if (![...field.options].some((option) => option.value === given))
        field.add(new Option(given, given));
      field.value = given;
    } else if (field.value !== value) field.value = value;
  }

  // Say what a folded section holds.
  function summarize() {
    for (const fold of root.querySelectorAll("details.fold")) {
      const shown = [...fold.querySelectorAll("[data-field]")]
        .filter((field) => field.value && field.value !== field.dataset.default)
        .map(
          (field) =>
            `${field.closest(".field").firstElementChild.textContent.trim()}: ${field.value}`,
        );
      for (const rows of pairs)
        if (fold.contains(rows.element))
          shown.push(...spec.pairs(rows.field).map(([name]) => name));
      fold.querySelector("[data-summary]").textContent = shown.join(", ") || say("none");
    }
  }

  fields.addEventListener("input", (event) => {
    const { field, default: standard } = event.target.dataset;
    if (!field) return;
    const value = event.target.value;
    write(() => spec.write(field, value === standard ? "" : value.trim() && value));
    if (field.startsWith("accelerators.")) fill();
  });

  // -- what a submission would answer
  // `settled`: typing has paused, so the image name is complete and its registry may be asked.
  async function check(settled = false) {
    const mine = ++asked;
    const body = { yaml: area.value, team: team?.value, settled };
    if (parent) body.parent = Number(parent);
    let found;
    try {
      const response = await post(root.dataset.validate, body);
      if (mine !== asked) return;
      if (!response.ok)
        return verdict("idle", say("The check is not available. You can submit anyway."));
      found = await response.json();
    } catch {
      if (mine === asked)
        verdict("idle", say("No connection. The check runs again when you type."));
      return;
    }
    if (mine !== asked) return;
    answer = found;
    const errors = [...found.errors, ...(found.start?.errors ?? [])];
    const isBlank = isEmpty(found.errors);
    show(isBlank ? [] : errors, found.notes);
    if (isBlank) verdict("idle", say("Enter a command to run."));
    else judge(found);
    send.disabled = root.dataset.maySubmit !== "true" || !found.ok || found.start?.ok === false;
    price(found.cost, found.price);
    tellImage(found.image);
    tellChanges(found.changes);
    if (spec.isScript && found.spec) fillFrom(found.yaml);
    commands();
  }

  // A form without a command is not wrong yet.
  const isEmpty = (errors) =>
    errors.length === 1 && errors[0].field === "run" && !spec.isScript && !spec.read("run");

  function post(url, body) {
    return fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRFToken": csrf },
      body: JSON.stringify(body),
    });
  }

  function later(wait = 250) {
    asked++;
    looks = 0;
    clearTimeout(timer);
    timer = setTimeout(check, wait);
  }

  function judge({ ok, errors, start: begin }) {
    if (!ok) verdict("failed", located(errors[0]), say("Can't be submitted."));
    else if (!begin) verdict("idle", say("Choose a team."));
    else if (!begin.ok) verdict("failed", begin.text, say("Can't be submitted."));
    else if (begin.starts_now) verdict("succeeded", begin.text);
    else verdict("queued", begin.text, say("Would wait."));
  }

  function verdict(kind, text, lead = "") {
    const box = find("[data-verdict]");
    box.className = `verdict ${kind}`;
    box.querySelector(".state").className = `state ${kind === "idle" ? "canceled" : kind}`;
    box.querySelector("strong").textContent = lead || text;
    box.querySelector("span[data-why]").textContent = lead ? text : "";
  }

  // -- errors: beside the field, at the line, and in the list under the editor
  function show(found, notes) {
    const errors = found.filter((e, n) => n || e.line || e.field); // the first is said beside the button
    const info = notes.map((note) => ({ ...note, severity: "info" }));
    editor.mark([...errors, ...info].map((e) => ({ ...e, message: described(e) })));
    find("[data-faults]").replaceChildren(
      ...errors.slice(0, 8).map((error) => row(error)),
      ...notes.slice(0, 8).map((note) => row(note, "muted")),
    );
    for (const slot of root.querySelectorAll("[data-error]")) mark(slot, "");
    for (const error of errors) {
      const slot = slotOf(error.field);
      if (slot && !slot.textContent) mark(slot, error.message);
    }
  }

  const located = (error) =>
    error.line ? `${say("line {n}", { n: error.line })}: ${described(error)}` : described(error);
  const described = ({ field, message }) => (field ? `${field}: ${message}` : message);

  function slotOf(field) {
    const known = field === "resources" ? "resources.accelerators" : field;
    return [...root.querySelectorAll("[data-error]")].find(({ dataset: { error } }) =>
      [error, `${error}.`, `${error}[`].some((name, n) =>
        n ? known.startsWith(name) : known === name,
      ),
    );
  }

  function mark(slot, message) {
    slot.textContent = message;
    const field = slot.closest(".field")?.querySelector("input, select, textarea");
    field?.setAttribute("aria-invalid", String(Boolean(message)));
    if (message) slot.closest("details")?.setAttribute("open", "");
  }

  function row(fault, kind = "") {
    const item = document.createElement("li");
    if (kind) item.className = kind;
    const where = document.createElement(fault.line ? "button" : "b");
    if (fault.line) {
      where.type = "button";
      where.className = "line-link";
      where.addEventListener("click", () => {
        view("yaml");
        editor.goTo(fault.line);
      });
    }
    where.textContent = [fault.line ? say("line {n}", { n: fault.line }) : "", fault.field]
      .filter(Boolean)
      .join(", ");
    item.append(where, where.textContent ? ": " : "", fault.message);
    return item;
  }

  // -- quota
  const titles = { org: say("Organization"), team: say("Team"), user: say("You") };
  const counted = { cores: (n) => say("{n} cores", { n }), GPUs: (n) => say("{n} GPUs", { n }) };
  const size = (value) =>
    value < 2 ** 30
      ? `${Number((value / 2 ** 20).toFixed(1))} MiB`
      : `${Number((value / 2 ** 30).toFixed(1))} GiB`;
  const format = (value, unit) =>
    unit === "bytes" ? size(value) : (counted[unit]?.(value) ?? `${value} ${unit}`);

  function price(entries, cost) {
    const hasType = entries.some((e) => e.resource.startsWith("gpu."));
    const asks = entries.filter((e) => e.resource !== "jobs" && !(hasType && e.resource === "gpu"));
    const amounts = asks.map((e) => (isEnglish ? e.text : format(e.ask, e.unit))).join(" · ");
    const tasks = asks[0]?.tasks > 1 ? `${say("{n} tasks", { n: asks[0].tasks })} × ` : "";
    const total = document.createElement("span");
    total.textContent = amounts && `${tasks}${amounts}`;
    const limits = entries.filter((e) => e.limit !== null).map(meter);
    if (amounts && !limits.length) total.textContent += ` · ${say("no quota limit")}`;
    const sum = document.createElement("span");
    if (cost)
      sum.textContent = cost.most_text
        ? say("at most {most} ({hourly} an hour)", {
            most: cost.most_text,
            hourly: cost.hourly_text,
          })
        : say("{hourly} an hour", { hourly: cost.hourly_text });
    find("[data-cost]").replaceChildren(total, ...(cost ? [sum] : []), ...limits);
  }

  function meter(entry) {
    const after = entry.used + entry.ask,
      part = document.createElement("span"),
      bar = document.createElement("progress");
    part.className = entry.fits ? "quota-after" : "quota-after bad";
    bar.max = entry.limit || 1;
    bar.value = Math.min(after, bar.max);
    bar.setAttribute("aria-hidden", "true");
    const words = {
      scope: titles[entry.scope] ?? entry.scope,
      after,
      limit: format(entry.limit, entry.unit),
    };
    if (entry.unit === "bytes") words.after = size(after);
    part.append(say("{scope}: {after} of {limit}", words), bar);
    part.title = say("{used} in use now; this job adds {ask}.", {
      used: format(entry.used, entry.unit),
      ask: format(entry.ask, entry.unit),
    });
    return part;
  }

  function tellImage(told) {
    const note = find("[data-image]");
    note.textContent = told?.text ?? "";
    note.className =
      told?.ok === false ? "form-error" : told?.doubtful ? "warn-text" : "small muted";
    if (told && told.ok === null && told.text === "" && looks++ < LOOKS)
      timer = setTimeout(() => check(true), 1000);
  }

  // -- a rerun
  function tellChanges(changes) {
    const list = find("[data-changes]");
    if (!list || !changes) return;
    list.replaceChildren(
      ...changes.map(({ field, before, after }) => {
        const item = document.createElement("li"),
          code = document.createElement("code");
        code.textContent = field;
        item.append(code);
        const isLong = [before, after].some(
          (value) => value && (value.includes("\n") || value.length > 80),
        );
        if (isLong) item.append(say("changed"));
        for (const [tag, value] of isLong
          ? []
          : [
              ["del", before],
              ["ins", after],
            ])
          if (value !== null)
            item.append(Object.assign(document.createElement(tag), { textContent: value }));
        return item;
      }),
    );
    find("[data-unchanged]").hidden = changes.length > 0;
  }

  // -- the same as a command
  function commands() {
    const given = {
      yaml: area.value,
      team: team?.value ?? "",
      parent,
      changes: answer?.changes,
      api: root.dataset.api,
    };
    const shown = find("[data-as][aria-pressed=true]").dataset.as;
    find("[data-command]").textContent = {
      command: asCommand,
      curl: asCurl,
      yaml: () => given.yaml,
    }[shown](given);
  }

  for (const button of root.querySelectorAll("[data-as]"))
    button.addEventListener("click", () => {
      for (const other of root.querySelectorAll("[data-as]"))
        other.setAttribute("aria-pressed", String(other === button));
      commands();
    });

  // -- what the team may use
  let shares = new Map();
  async function loadOptions() {
    const chosen = team?.value;
    if (!chosen) return;
    const response = await fetch(
      `${root.dataset.options}?team=${encodeURIComponent(chosen)}`,
    ).catch(() => null);
    if (!response?.ok || team.value !== chosen) return;
    const { gpu_types: types, pools, secrets } = await response.json();
    offer(find("[data-field='accelerators.type']"), [
      ["", say("Any type")],
      ...types.map((t) => [t.type, say("{type}: {n} free", { type: gpuName(t.type), n: t.free })]),
    ]);
    shares = new Map(types.map((t) => [t.type, t.note]));
    const pool = find("[data-field='policy.pool']");
    if (pool) offer(pool, [["", say("Muster chooses")], ...pools.map((p) => [p, p])]);
    for (const rows of pairs) if (rows.element.dataset.pairs === "secrets") rows.offer(secrets);
    fill();
    noteShare();
  }

  // -- what a share of a GPU does not isolate
  function noteShare() {
    const note = find("[data-share-note]");
    note.textContent = shares.get(find("[data-field='accelerators.type']").value) ?? "";
    note.hidden = !note.textContent;
  }
  root.addEventListener("input", noteShare);

  function offer(select, options) {
    select.replaceChildren(...options.map(([value, text]) => new Option(text, value)));
  }

  // -- experiments of the team, while one types
  const experiment = find("[data-field=experiment]");
  async function suggestExperiments() {
    const [typed, whose] = [experiment.value, team?.value ?? ""];
    const query = new URLSearchParams({ team: whose, q: typed, limit: 20 });
    const response = await fetch(`${root.dataset.experiments}?${query}`).catch(() => null);
    if (!response?.ok || experiment.value !== typed || (team?.value ?? "") !== whose) return;
    const { items } = await response.json();
    experiment.list.replaceChildren(...items.map(({ name }) => new Option("", name)));
  }
  for (const event of ["focus", "input"]) experiment.addEventListener(event, suggestExperiments);

  // -- datasets, and the tags and versions of one once its name is typed
  const inputs = find("[data-pairs=inputs]");
  async function suggestDatasets(event) {
    if (event.target.dataset.part !== "value") return;
    const typed = event.target.value,
      [name, at] = typed.split(/(@)/);
    const path = at ? `/${encodeURIComponent(name)}/refs` : `?${new URLSearchParams({ q: typed })}`;
    const response = await fetch(`${root.dataset.datasets}${path}`);
    if (!response.ok || event.target.value !== typed) return;
    const { items } = await response.json();
    const names = items.map((item) => (at ? `${name}@${item.name}` : item.name));
    find("#datasets").replaceChildren(...names.map((found) => new Option("", found)));
  }
  for (const event of ["focusin", "input"]) inputs.addEventListener(event, suggestDatasets);

  // -- workspaces, while one types
  const mounts = find("[data-pairs=workspaces]");
  async function suggestWorkspaces(event) {
    if (event.target.dataset.part !== "value") return;
    const typed = event.target.value;
    const query = new URLSearchParams({ q: typed });
    const response = await fetch(`${root.dataset.workspaces}?${query}`).catch(() => null);
    if (!response?.ok || event.target.value !== typed) return;
    const { items } = await response.json();
    find("#workspaces").replaceChildren(...items.map(({ name }) => new Option("", name)));
  }
  for (const event of ["focusin", "input"]) mounts.addEventListener(event, suggestWorkspaces);

  // -- dry run, in its own sheet
  const sheet = document.getElementById("dry-run");
  find("[data-dry-run]").addEventListener("click", async (event) => {
    const button = event.currentTarget;
    button.disabled = true;
    try {
      const response = await post(root.dataset.dry, { yaml: area.value, team: team?.value });
      showDryRun(await response.json());
    } catch {
      showDryRun({ detail: say("No answer. Check your connection and try again.") });
    } finally {
      button.disabled = false;
    }
  });

  function showDryRun(body) {
    const checks = body.checks ?? [{ ok: false, name: "spec", text: body.detail }];
    sheet.querySelector("[data-checks]").replaceChildren(
      ...checks.map((c) => {
        const item = document.createElement("li");
        item.textContent = `${c.ok ? "✓" : c.ok === null ? "–" : "✗"} ${c.name}: ${c.text}`;
        item.className = c.ok === false && c.name !== "start" ? "form-error" : "";
        return item;
      }),
    );
    sheet.querySelector("[data-launch]").textContent = body.launch ?? "";
    sheet.querySelector("[data-launch-part]").hidden = !body.launch;
    sheet.showModal();
  }

  // -- batch scripts
  function fillFrom(text) {
    const script = spec;
    spec = new SpecDocument(text);
    for (const field of root.querySelectorAll("[data-field]"))
      setValue(field, spec.read(field.dataset.field));
    spec = script;
  }
  find("[data-convert]").addEventListener("click", () => {
    if (!answer?.yaml) return;
    editor.setText(answer.yaml);
    setText(answer.yaml);
    fill();
  });

  // -- on a phone the YAML is a tab
  function view(name) {
    root.dataset.view = name;
    for (const tab of root.querySelectorAll("[data-show]"))
      tab.setAttribute("aria-pressed", String(tab.dataset.show === name));
  }
  for (const tab of root.querySelectorAll("[data-show]"))
    tab.addEventListener("click", () => view(tab.dataset.show));

  // -- an edited draft survives a click on a template
  const note = find("[data-draft]");
  const kept = sessionStorage.getItem(stash);
  sessionStorage.removeItem(stash);
  if (kept && kept !== area.value) note.hidden = false;
  find("[data-restore]").addEventListener("click", () => {
    note.hidden = true;
    editor.setText(kept);
    setText(kept);
    fill();
  });
  window.addEventListener("pagehide", () => {
    const isKnown = area.value === initial || area.value === history.state?.yaml;
    if (!isSending && !isKnown) sessionStorage.setItem(stash, area.value);
  });

  // -- sending
  function submit() {
    if (!send.disabled) root.requestSubmit(send);
  }
  root.addEventListener("submit", () => {
    isSending = true;
    history.replaceState({ yaml: area.value }, "");
  });
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.defaultPrevented)
      return;
    event.preventDefault();
    submit();
  });
  team?.addEventListener("change", () => {
    later(0);
    loadOptions();
  });

  fill();
  const refused = JSON.parse(document.getElementById("refused").textContent);
  if (refused.length) {
    show(refused, []);
    verdict("failed", refused[0].message, say("Not submitted."));
  }
  commands();
  loadOptions();
  check();
  if (!spec.read("run") && !spec.isScript) find("[data-field=run]").focus();
}
