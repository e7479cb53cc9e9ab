// Upload files into a dataset or checkpoint and commit them: find out what is there already, send
// the rest in pieces that resume (tus), and make one version of all. In a workspace (data-direct)
// each file appears at once.
import { Chosen } from "./dataset-upload/chosen.js";
import { createDropZone } from "./dataset-upload/drop-zone.js";
import { Requests } from "./dataset-upload/requests.js";
import { Transfers } from "./dataset-upload/transfers.js";
import { chosenFiles } from "./dropped-files.js";
import { count, say } from "./words.js";

const PARALLEL = 3,
  HASHED = 64 << 20, // bytes: larger files are sent without asking whether they are there
  ASKED = 1000, // SHA-256 in a question
  SHOWN = 200; // files of the list
const TARGETS = ["keep", "error", "pause", "onto", "hint", "files", "total", "percent", "status"];
const WORDS = {
  hashing: say("Checking", { context: "state of an upload" }),
  present: say("Already there", { context: "state of an upload" }),
  sending: say("Uploading", { context: "state of an upload" }),
  done: say("Uploaded", { context: "state of an upload" }),
};

class DatasetUpload {
  #isBusy = false;
  #chosen = new Chosen();

  constructor(form) {
    const csrf = form.elements.csrfmiddlewaretoken.value;
    this.form = form;
    this.targets = Object.fromEntries(
      [...TARGETS, "moved", "look"].map((name) => [name, form.querySelector(`[data-${name}]`)]),
    );
    this.button = form.querySelector("button.primary:not([data-onto])");
    this.label = this.button.textContent.trim();
    this.inputs = form.querySelectorAll("input[type=file]");
    this.keeps = this.targets.keep.querySelector("input");
    this.creates = "creates" in form.dataset;
    this.isDirect = "direct" in form.dataset;
    this.api = this.creates ? "" : form.dataset.datasetUpload;
    this.page = form.dataset.page;
    this.requests = new Requests(csrf);
    this.transfers = new Transfers({
      csrf,
      onLost: () =>
        this.showStatus(say("The connection was lost. The upload goes on when it is back.")),
    });
    this.listen();
    this.show();
  }

  listen() {
    const { form, targets } = this;
    for (const one of form.querySelectorAll("[data-needs-script]")) one.hidden = false;
    // These inputs only choose; the files are sent by this module
    for (const input of this.inputs) {
      input.removeAttribute("name");
      input.addEventListener("change", () => {
        this.add(chosenFiles(input));
        input.value = "";
      });
    }
    this.keeps.checked = this.isDirect && !this.creates;
    targets.keep.addEventListener("change", () => this.show());
    targets.pause.addEventListener("click", () => this.setPaused(!this.transfers.isPaused));
    targets.onto.addEventListener("click", () => this.run(() => this.commit(null)));
    addEventListener("online", () => {
      if (this.#isBusy && !this.transfers.isPaused) this.restart();
    });
    addEventListener("beforeunload", (event) => this.#isBusy && event.preventDefault());
    form.addEventListener("submit", (event) => {
      if (this.creates && !this.#chosen.files.length) return; // the form itself creates it
      event.preventDefault();
      event.stopImmediatePropagation();
      this.run(() => this.upload());
    });
  }

  add(files) {
    this.#chosen.add(files);
    const { folder } = this.#chosen,
      { name } = this.form.elements;
    if (this.creates && folder && !name.value) name.value = folder.replace(/[^\w.-]+/g, "-");
    this.show();
  }

  pathOf(path) {
    const below = this.form.elements.folder?.value ?? "";
    return this.#chosen.target(path, { below, keepsFolder: this.keeps.checked });
  }

  // -- what is shown
  showStatus(text) {
    this.targets.status.textContent = text;
  }

  show() {
    const { targets } = this,
      { files, folder } = this.#chosen;
    targets.keep.hidden = !folder || this.#isBusy;
    targets.keep.querySelector("span").textContent = say("Keep the folder name {name}", {
      name: folder,
    });
    targets.hint.textContent = chosenText(this.#chosen);
    targets.files.replaceChildren(...files.slice(0, SHOWN).map((one) => this.row(one)));
    if (files.length > SHOWN) {
      const more = document.createElement("li");
      more.textContent = say("and {n} more", {
        context: "state of an upload",
        n: count(files.length - SHOWN),
      });
      targets.files.append(more);
    }
    this.button.disabled = this.#isBusy || (!this.creates && !files.length);
    this.button.textContent = this.creates && files.length ? say("Create and upload") : this.label;
    targets.pause.hidden = !this.#isBusy;
    for (const input of this.inputs) input.disabled = this.#isBusy;
  }

  row(one) {
    const item = document.createElement("li");
    one.label = text("muted nowrap", WORDS[one.state] ?? sizeText(one.file.size));
    item.append(text("mono clip", this.pathOf(one.path)), one.label);
    return item;
  }

  mark(one, state) {
    one.state = state;
    if (one.label) one.label.textContent = WORDS[state];
    this.showProgress();
  }

  showProgress() {
    const { targets } = this,
      { size, sent, done, files } = this.#chosen;
    const share = size ? sent / size : 1;
    targets.total.hidden = false;
    targets.total.querySelector("progress").value = share;
    targets.percent.textContent = `${count(Math.floor(share * 100))}%`;
    if (!this.transfers.isPaused && navigator.onLine)
      this.showStatus(
        say("{done} of {n} files, {sent} of {size}", {
          context: "state of an upload",
          done: count(done),
          n: count(files.length),
          sent: sizeText(sent),
          size: sizeText(size),
        }),
      );
  }

  showMoved() {
    const { moved, look } = this.targets;
    const { pathname, search } = new URL(this.page, location.href);
    moved.hidden = false;
    look.href = `${pathname}/compare${search}`;
    moved.scrollIntoView({ block: "nearest" });
  }

  // -- the steps
  // Do a step of the upload and show what goes wrong; everything that was sent is kept.
  async run(step) {
    const { error, moved } = this.targets;
    this.#isBusy = true;
    error.hidden = moved.hidden = true;
    this.show();
    try {
      await step();
    } catch (problem) {
      this.#isBusy = false;
      this.transfers.stop();
      this.show();
      if (problem.code === "moved") this.showMoved();
      else {
        error.textContent = problem.message;
        error.hidden = false;
        this.button.textContent = say("Try again", { context: "button" });
      }
    }
  }

  async upload() {
    if (this.creates && !this.api) await this.create();
    if (!this.isDirect) await this.findPresent();
    await Promise.all(Array.from({ length: PARALLEL }, () => this.work()));
    if (this.isDirect) this.finish();
    else await this.commit(this.form.dataset.parent);
  }

  async create() {
    const { datasetUpload: address, page } = this.form.dataset,
      fields = new FormData(this.form);
    const names = ["name", "team", "description", "visibility"];
    const body = Object.fromEntries(names.map((name) => [name, fields.get(name)]));
    const made = await this.requests.send("POST", address, body);
    this.api = `${address}/${made.name}`;
    this.page = `${page}/${made.name}`;
  }

  // Hash files that are not large and ask which of them the repository has.
  async findPresent() {
    // Browsers hash only in secure contexts: https, or this computer
    if (!globalThis.crypto?.subtle) return;
    const { files } = this.#chosen;
    for (const one of files.filter((each) => !each.sha256 && each.file.size <= HASHED)) {
      this.mark(one, "hashing");
      one.sha256 = await sha256Of(one.file);
      this.mark(one, "waiting");
    }
    const asked = files.filter((one) => one.sha256 && one.state !== "done");
    for (let at = 0; at < asked.length; at += ASKED) {
      const batch = asked.slice(at, at + ASKED);
      const sha256 = [...new Set(batch.map((one) => one.sha256))];
      const { items } = await this.requests.send("POST", `${this.api}/contents`, { sha256 });
      const present = new Set(items.map((item) => item.sha256));
      for (const one of batch.filter((each) => present.has(each.sha256))) {
        one.sent = one.file.size;
        this.mark(one, "present");
      }
    }
    this.show();
  }

  async work() {
    for (let one = this.#chosen.next; one; one = this.#chosen.next) {
      this.mark(one, "sending");
      try {
        await this.transfer(one);
      } catch (problem) {
        this.mark(one, "waiting");
        throw problem;
      }
      one.sent = one.file.size;
      this.mark(one, "done");
    }
  }

  async transfer(one) {
    const sha256 = await this.transfers.send(one.file, {
      api: this.api,
      path: this.pathOf(one.path),
      onProgress: (sent) => {
        one.sent = sent;
        this.showProgress();
      },
    });
    one.sha256 = sha256 || one.sha256;
  }

  setPaused(value) {
    this.targets.pause.textContent = value
      ? say("Resume", { context: "state of an upload" })
      : say("Pause", { context: "state of an upload" });
    this.transfers.setPaused(value);
    if (value) this.showStatus(say("Paused", { context: "state of an upload" }));
    else this.showProgress();
  }

  restart() {
    this.transfers.restart();
    this.showProgress();
  }

  async commit(parent) {
    const changes = this.#chosen.files.map(({ path, sha256 }) => ({
      op: "add",
      path: this.pathOf(path),
      sha256,
    }));
    const about = { message: this.message(changes), branch: this.form.dataset.branch };
    if (parent !== null) about.parent = parent;
    this.showStatus(say("Committing", { context: "state of an upload" }));
    await this.requests.sendLines(`${this.api}/commits`, [about, ...changes]);
    this.finish();
  }

  message(changes) {
    const given = this.form.elements.message?.value.trim();
    if (given) return given;
    return changes.length === 1
      ? say("Upload {name}", {
          context: "state of an upload",
          name: changes[0].path.split("/").at(-1),
        })
      : say("Upload {n} files", { context: "state of an upload", n: count(changes.length) });
  }

  finish() {
    this.#isBusy = false;
    location.assign(this.page);
  }
}

function chosenText({ files, size }) {
  if (!files.length) return say("Drop files or a folder here, or choose them.");
  if (files.length === 1) return sizeText(size);
  return say("{n} files, {size}", {
    context: "state of an upload",
    n: count(files.length),
    size: sizeText(size),
  });
}

const text = (className, textContent) =>
  Object.assign(document.createElement("span"), { className, textContent });

async function sha256Of(file) {
  const digest = await crypto.subtle.digest("SHA-256", await file.arrayBuffer());
  return [...new Uint8Array(digest)].map((b) => b.toString(16).padStart(2, "0")).join("");
}

function sizeText(bytes) {
  const steps = ["B", "KiB", "MiB", "GiB", "TiB"];
  const step = bytes ? Math.min(Math.floor(Math.log2(bytes) / 10), 4) : 0;
  const value = bytes / 1024 ** step;
  return `${count(step ? Number(value.toFixed(1)) : value)} ${steps[step]}`;
}

const uploads = [...document.querySelectorAll("form[data-dataset-upload]")].map(
  (form) => new DatasetUpload(form),
);
if (uploads.length) createDropZone(uploads[0].form, (files) => uploads[0].add(files));
