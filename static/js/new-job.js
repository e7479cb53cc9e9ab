// New-job page: form and YAML are two views of one document. What a submission would answer is
// asked while one types, and shown beside the button, the field and the line.
import { asCommand, asCurl } from "./job-commands.js";
import { showChanges } from "./new-job/changes.js";
import { showCost } from "./new-job/cost.js";
import { createDraft } from "./new-job/draft.js";
import { createDryRun } from "./new-job/dry-run.js";
import { createFormView } from "./new-job/form-view.js";
import { createOffers } from "./new-job/offers.js";
import { createSuggestions } from "./new-job/suggestions.js";
import { createTeamOptions } from "./new-job/team-options.js";
import { createFaults, createVerdict } from "./new-job/verdict.js";
import { SpecDocument } from "./spec-document.js";
import { say } from "./words.js";
import { createEditor } from "./yaml-editor.js";

const LOOKS = 6; // a registry may take three seconds

class NewJob {
  #answer = null; // of the last check
  #asked = 0;
  #timer = 0;
  #looks = 0;
  #isSending = false;
  #firstChanges = JSON.parse(document.getElementById("first-changes").textContent);

  constructor(root) {
    const find = (selector) => root.querySelector(selector);
    this.root = root;
    this.area = find("textarea[name=yaml]");
    this.team = find("[name=team]");
    this.button = find("button[type=submit]");
    this.parent = find("[name=parent]")?.value;
    this.csrf = find("[name=csrfmiddlewaretoken]").value;
    this.targets = {
      cost: find("[data-cost]"),
      image: find("[data-image]"),
      changes: find("[data-changes]"),
      unchanged: find("[data-unchanged]"),
      command: find("[data-command]"),
    };
    this.initial = this.area.value;
    this.area.value = history.state?.yaml ?? this.initial; // what was submitted, after a step back
    this.spec = new SpecDocument(this.area.value);
    this.editor = createEditor(find("[data-editor]"), {
      text: this.area.value,
      label: "YAML",
      onChange: (text) => {
        this.setText(text);
        this.fill();
      },
      onSubmit: () => this.submit(),
    });
    this.area.hidden = true;
    this.area.removeAttribute("aria-label");
    this.form = createFormView(root, (change) => this.write(change));
    this.verdict = createVerdict(find("[data-verdict]"), (field) => this.faults.labelOf(field));
    this.faults = createFaults(root, this.editor, (line) => {
      this.view("yaml");
      this.editor.goTo(line);
    });
    this.showOffers = createOffers(find("[data-offers]"), (changes) => this.take(changes));
    this.options = createTeamOptions(root, this.team, (secrets) => {
      this.form.offerSecrets(secrets);
      this.fill();
    });
    createSuggestions(root, this.team);
    createDryRun(find("[data-dry-run]"), document.getElementById("dry-run"), async () => {
      const body = { yaml: this.area.value, team: this.team?.value };
      return (await this.post(root.dataset.dry, body)).json();
    });
    createDraft(root, {
      text: () => this.area.value,
      restore: (text) => this.replaceText(text),
      isLost: () =>
        !this.#isSending && ![this.initial, history.state?.yaml].includes(this.area.value),
    });
    this.listen(find);
    this.begin(find);
  }

  listen(find) {
    const { root } = this;
    find("[data-convert]").addEventListener("click", () => {
      if (this.#answer?.yaml) this.replaceText(this.#answer.yaml);
    });
    for (const tab of root.querySelectorAll("[data-show]"))
      tab.addEventListener("click", () => this.view(tab.dataset.show));
    for (const button of root.querySelectorAll("[data-as]"))
      button.addEventListener("click", () => {
        for (const other of root.querySelectorAll("[data-as]"))
          other.setAttribute("aria-pressed", String(other === button));
        this.showCommand();
      });
    root.addEventListener("submit", () => {
      this.#isSending = true;
      history.replaceState({ yaml: this.area.value }, "");
    });
    root.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.defaultPrevented)
        return;
      event.preventDefault();
      this.submit();
    });
    this.team?.addEventListener("change", () => {
      this.checkLater(0);
      this.options.load();
    });
  }

  begin(find) {
    this.fill();
    this.form.openFilled();
    if (this.parent) this.showChanges(this.#firstChanges);
    const refused = JSON.parse(document.getElementById("refused").textContent);
    if (refused.length) {
      this.faults.show(refused, []);
      this.verdict.tell("failed", refused[0].message, say("Not submitted."));
      this.focusFault();
    }
    this.showCommand();
    this.options.load();
    this.check();
    if (!this.spec.read("run") && !this.spec.isScript) find("[data-field=run]").focus();
  }

  // -- the text, which is what is submitted
  setText(text) {
    this.area.value = text;
    this.spec = new SpecDocument(text);
    this.checkLater();
  }

  replaceText(text) {
    this.editor.setText(text);
    this.setText(text);
    this.fill();
  }

  write(change) {
    change(this.spec);
    const text = this.spec.toString();
    this.editor.setText(text);
    this.setText(text);
    this.form.summarize(this.spec);
    return this.spec;
  }

  // Take a suggestion: fields with their new values; null removes one.
  take(changes) {
    if (this.spec.isScript) this.replaceText(this.#answer.yaml);
    for (const [field, value] of Object.entries(changes))
      this.spec.write(field, value === null ? "" : String(value));
    this.replaceText(this.spec.toString());
    this.checkLater(0);
    this.verdict.focus(); // Submit is disabled until the check has answered
  }

  fill() {
    this.form.fill(this.spec);
  }

  submit() {
    if (this.button.disabled) this.focusFault();
    else this.root.requestSubmit(this.button);
  }

  focusFault() {
    this.root.querySelector("[aria-invalid=true]")?.focus();
  }

  // On a phone the YAML is a tab.
  view(name) {
    this.root.dataset.view = name;
    for (const tab of this.root.querySelectorAll("[data-show]"))
      tab.setAttribute("aria-pressed", String(tab.dataset.show === name));
  }

  // -- what a submission would answer
  checkLater(wait = 250) {
    this.#asked++;
    this.#looks = 0;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.check(), wait);
  }

  // `settled`: typing has paused, so the image name is complete and its registry may be asked.
  async check(settled = false) {
    const mine = ++this.#asked;
    const body = { yaml: this.area.value, team: this.team?.value, settled };
    if (this.parent) body.parent = Number(this.parent);
    let found;
    try {
      const response = await this.post(this.root.dataset.validate, body);
      if (mine !== this.#asked) return;
      if (!response.ok) {
        this.verdict.tell("idle", say("The check is not available. You can submit anyway."));
        return;
      }
      found = await response.json();
    } catch {
      if (mine === this.#asked)
        this.verdict.tell("idle", say("No connection. The check runs again when you type."));
      return;
    }
    if (mine === this.#asked) this.show(found);
  }

  show(found) {
    this.#answer = found;
    const isBlank = this.isEmpty(found.errors);
    this.faults.show(isBlank ? [] : [...found.errors, ...(found.start?.errors ?? [])], found.notes);
    if (isBlank) this.verdict.tell("idle", say("Enter a command to run."));
    else this.verdict.judge(found);
    this.button.disabled =
      this.root.dataset.maySubmit !== "true" || !found.ok || found.start?.ok === false;
    if (this.verdict.hasFocus && !this.button.disabled) this.button.focus({ preventScroll: true });
    this.showOffers((!isBlank && found.start?.suggestions) || []);
    showCost(this.targets.cost, found.cost, found.price);
    this.showImage(found.image);
    this.showChanges(found.changes);
    if (this.spec.isScript && found.spec) this.form.fillFrom(new SpecDocument(found.yaml));
    this.showCommand();
  }

  // A form without a command is not wrong yet.
  isEmpty(errors) {
    const isOnlyCommand = errors.length === 1 && errors[0].field === "run";
    return isOnlyCommand && !this.spec.isScript && !this.spec.read("run");
  }

  showImage(image) {
    const note = this.targets.image,
      isSaid = this.root.querySelector("[data-error=image]").textContent !== "";
    note.textContent = isSaid ? "" : image?.text || this.pulledImage();
    note.className =
      image?.ok === false ? "form-error" : image?.doubtful ? "warn-text" : "small muted";
    if (image && image.ok === null && image.text === "" && this.#looks++ < LOOKS)
      this.#timer = setTimeout(() => this.check(true), 1000);
  }

  // What a name without a registry or a tag means, until the image is known.
  pulledImage() {
    const name = this.spec.read("image");
    if (!name || name.includes("/") || this.spec.isScript) return "";
    const tagged = /[:@]/.test(name) ? name : `${name}:latest`;
    return say("Pulls docker.io/library/{name}.", { context: "text, new-job", name: tagged });
  }

  showChanges(changes) {
    const { parentTeam: before } = this.root.dataset;
    const moved = this.isMoved ? [{ field: "team", before, after: this.team.value }] : [];
    showChanges(this.targets.changes, this.targets.unchanged, changes && [...moved, ...changes]);
  }

  // Whether a rerun goes to another team than its parent.
  get isMoved() {
    return (
      Boolean(this.parent && this.team?.value) && this.team.value !== this.root.dataset.parentTeam
    );
  }

  // -- the same as a command
  showCommand() {
    const given = {
      yaml: this.area.value,
      team: this.team?.value ?? "",
      parent: this.isMoved ? "" : this.parent,
      changes: this.#answer?.changes ?? this.#firstChanges,
      api: this.root.dataset.api,
    };
    const shown = this.root.querySelector("[data-as][aria-pressed=true]").dataset.as;
    this.targets.command.textContent = {
      command: asCommand,
      curl: asCurl,
      yaml: () => given.yaml,
    }[shown](given);
  }

  post(url, body) {
    return fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRFToken": this.csrf },
      body: JSON.stringify(body),
    });
  }
}

const root = document.querySelector("[data-new-job]");
if (root) new NewJob(root);
