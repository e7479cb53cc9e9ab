// Upload files into a dataset or checkpoint and commit them: find out what is there already, send
// the rest in pieces that resume (tus), and make one version of all. In a workspace (data-direct)
// each file appears at once.
import { Upload } from "../vendor/tus.js";
import { chosenFiles, commonFolder, droppedFiles } from "./dropped-files.js";
import { count, say } from "./words.js";

const PARALLEL = 3,
  HASHED = 64 << 20, // bytes: larger files are sent without asking whether they are there
  ASKED = 1000, // SHA-256 in a question
  SHOWN = 200, // files of the list
  PIECE = 64 << 20; // bytes of a request
const WAITS = [0, 500, 1000, 2000, 4000, ...Array(200).fill(5000)]; // ms between attempts

for (const form of document.querySelectorAll("form[data-dataset-upload]")) start(form);

function start(form) {
  const part = (name) => form.querySelector(`[data-${name}]`);
  const button = form.querySelector("button.primary:not([data-onto])"),
    keep = part("keep"),
    error = part("error"),
    pause = part("pause"),
    creates = "creates" in form.dataset,
    isDirect = "direct" in form.dataset;
  const label = button.textContent.trim();
  let api = creates ? "" : form.dataset.datasetUpload,
    page = form.dataset.page,
    given = [], // {path, file, state, sha256, sent}
    running = new Set(), // tus uploads
    isBusy = false,
    isPaused = false;

  for (const one of form.querySelectorAll("[data-needs-script]")) one.hidden = false;
  // These inputs only choose; the files are sent by this module
  for (const input of form.querySelectorAll("input[type=file]")) {
    input.removeAttribute("name");
    input.addEventListener("change", () => {
      add(chosenFiles(input));
      input.value = "";
    });
  }
  keep.querySelector("input").checked = isDirect && !creates;
  keep.addEventListener("change", show);
  pause.addEventListener("click", () => setPaused(!isPaused));
  part("onto").addEventListener("click", () => run(() => commit(null)));
  addEventListener("online", () => isBusy && !isPaused && restart());
  addEventListener("beforeunload", (event) => isBusy && event.preventDefault());
  form.addEventListener("dropped", ({ detail }) => add(detail));

  function add(files) {
    const paths = new Set(files.map(({ path }) => path));
    given = [
      ...given.filter(({ path }) => !paths.has(path)),
      ...files.map((one) => ({ ...one, state: "", sha256: "", sent: 0 })),
    ].sort((a, b) => (a.path < b.path ? -1 : 1));
    const folder = commonFolder(given.map(({ path }) => path)),
      name = form.elements.name;
    if (creates && folder && !name.value) name.value = folder.replace(/[^\w.-]+/g, "-");
    show();
  }

  // The path in the repository: below the folder of the form, without the name of the chosen folder
  function target(path) {
    const folder = keep.querySelector("input").checked
      ? ""
      : commonFolder(given.map((g) => g.path));
    const below = (form.elements.folder?.value ?? "").replace(/^\/+|\/+$/g, "");
    return (below ? `${below}/` : "") + (folder ? path.slice(folder.length + 1) : path);
  }

  const words = {
    hashing: say("Checking"),
    present: say("Already there"),
    sending: say("Uploading"),
    done: say("Uploaded"),
  };

  function chosenText() {
    if (!given.length) return say("Drop files or a folder here, or choose them.");
    if (given.length === 1) return sizeText(total("size"));
    return say("{n} files, {size}", { n: count(given.length), size: sizeText(total("size")) });
  }

  function show() {
    const folder = commonFolder(given.map(({ path }) => path));
    keep.hidden = !folder || isBusy;
    keep.querySelector("span").textContent = say("Keep the folder name {name}", { name: folder });
    part("hint").textContent = chosenText();
    part("files").replaceChildren(
      ...given.slice(0, SHOWN).map((one) => {
        const item = document.createElement("li");
        item.append(
          Object.assign(document.createElement("span"), {
            className: "mono clip",
            textContent: target(one.path),
          }),
          (one.label = Object.assign(document.createElement("span"), {
            className: "muted nowrap",
            textContent: words[one.state] ?? sizeText(one.file.size),
          })),
        );
        return item;
      }),
    );
    if (given.length > SHOWN) {
      const more = document.createElement("li");
      more.textContent = say("and {n} more", { n: count(given.length - SHOWN) });
      part("files").append(more);
    }
    button.disabled = isBusy || (!creates && !given.length);
    button.textContent = creates && given.length ? say("Create and upload") : label;
    pause.hidden = !isBusy;
    for (const input of form.querySelectorAll("input[type=file]")) input.disabled = isBusy;
  }

  function mark(one, state) {
    one.state = state;
    if (one.label) one.label.textContent = words[state];
    progress();
  }

  const total = (what) =>
    given.reduce((sum, one) => sum + (what === "size" ? one.file.size : one.sent), 0);

  function progress() {
    const share = total("size") ? total("sent") / total("size") : 1;
    part("total").hidden = false;
    part("total").querySelector("progress").value = share;
    const done = given.filter(({ state }) => state === "done" || state === "present").length;
    part("percent").textContent = `${count(Math.floor(share * 100))}%`;
    if (!isPaused && navigator.onLine)
      part("status").textContent = say("{done} of {n} files, {sent} of {size}", {
        done: count(done),
        n: count(given.length),
        sent: sizeText(total("sent")),
        size: sizeText(total("size")),
      });
  }

  form.addEventListener("submit", (event) => {
    if (creates && !given.length) return; // the form itself creates it
    event.preventDefault();
    event.stopImmediatePropagation();
    run(async () => {
      if (creates && !api) await create();
      if (!isDirect) await findPresent();
      await Promise.all(Array.from({ length: PARALLEL }, work));
      if (isDirect) finish();
      else await commit(form.dataset.parent);
    });
  });

  // Do a step of the upload and show what goes wrong; everything that was sent is kept.
  async function run(step) {
    isBusy = true;
    error.hidden = part("moved").hidden = true;
    show();
    try {
      await step();
    } catch (problem) {
      isBusy = false;
      for (const one of running) one.abort();
      running = new Set();
      show();
      if (problem.code === "moved") showMoved();
      else {
        error.textContent = problem.message;
        error.hidden = false;
        button.textContent = say("Try again");
      }
    }
  }

  async function create() {
    const fields = new FormData(form);
    const names = ["name", "team", "description", "visibility"];
    const body = Object.fromEntries(names.map((name) => [name, fields.get(name)]));
    const made = await send("POST", form.dataset.datasetUpload, body);
    api = `${form.dataset.datasetUpload}/${made.name}`;
    page = `${form.dataset.page}/${made.name}`;
  }

  // Hash files that are not large and ask which of them the repository has.
  async function findPresent() {
    // Browsers hash only in secure contexts: https, or this computer
    if (!globalThis.crypto?.subtle) return;
    const open = given.filter((one) => !one.sha256 && one.file.size <= HASHED);
    for (const one of open) {
      mark(one, "hashing");
      const digest = await crypto.subtle.digest("SHA-256", await one.file.arrayBuffer());
      one.sha256 = [...new Uint8Array(digest)].map((b) => b.toString(16).padStart(2, "0")).join("");
      mark(one, "waiting");
    }
    const asked = given.filter((one) => one.sha256 && one.state !== "done");
    for (let at = 0; at < asked.length; at += ASKED) {
      const batch = asked.slice(at, at + ASKED);
      const sha256 = [...new Set(batch.map((one) => one.sha256))];
      const { items } = await send("POST", `${api}/contents`, { sha256 });
      const present = new Set(items.map((item) => item.sha256));
      for (const one of batch) {
        if (!present.has(one.sha256)) continue;
        one.sent = one.file.size;
        mark(one, "present");
      }
    }
    show();
  }

  async function work() {
    for (;;) {
      const next = given.find(({ state }) => !["sending", "done", "present"].includes(state));
      if (!next) return;
      mark(next, "sending");
      try {
        await transfer(next);
      } catch (problem) {
        mark(next, "waiting");
        throw problem;
      }
      next.sent = next.file.size;
      mark(next, "done");
    }
  }

  function transfer(one) {
    return new Promise((resolve, reject) => {
      let sha256 = "";
      const upload = new Upload(one.file, {
        endpoint: `${api}/uploads`,
        chunkSize: PIECE,
        retryDelays: WAITS,
        metadata: { filename: target(one.path) },
        headers: { "X-CSRFToken": form.elements.csrfmiddlewaretoken.value },
        removeFingerprintOnSuccess: true,
        // Files of one name and size in two folders are two uploads
        fingerprint: (file) =>
          Promise.resolve(
            ["muster", api, target(one.path), file.size, file.lastModified].join("\n"),
          ),
        onShouldRetry: (problem) => {
          const status = problem.originalResponse?.getStatus() ?? 0;
          const retries = !status || status >= 500 || [408, 409, 423, 429].includes(status);
          if (retries)
            part("status").textContent = say(
              "The connection was lost. The upload goes on when it is back.",
            );
          return retries;
        },
        onProgress: (sent) => {
          one.sent = sent;
          progress();
        },
        onAfterResponse: (_request, response) => {
          sha256 = response.getHeader("Upload-Sha256") ?? sha256;
        },
        onSuccess: () => {
          running.delete(upload);
          one.sha256 = sha256 || one.sha256;
          resolve();
        },
        onError: (problem) => {
          running.delete(upload);
          const answer = parsed(problem.originalResponse?.getBody() ?? "");
          reject(new Error(answer.detail ?? say("The upload failed. Try again.")));
        },
      });
      running.add(upload);
      upload.findPreviousUploads().then((previous) => {
        if (previous.length) upload.resumeFromPreviousUpload(previous[0]);
        if (!isPaused) upload.start();
      }, reject);
    });
  }

  function setPaused(value) {
    isPaused = value;
    pause.textContent = value ? say("Resume") : say("Pause");
    if (value) {
      for (const one of running) one.abort();
      part("status").textContent = say("Paused");
    } else restart();
  }

  function restart() {
    for (const one of running) one.abort().then(() => one.start());
    progress();
  }

  async function commit(parent) {
    const paths = given.map(({ path }) => target(path)).sort(),
      changes = given.map((one) => ({ op: "add", path: target(one.path), sha256: one.sha256 })),
      only = { name: paths[0].split("/").at(-1) };
    const message =
      form.elements.message?.value.trim() ||
      (paths.length === 1
        ? say("Upload {name}", only)
        : say("Upload {n} files", { n: count(paths.length) }));
    part("status").textContent = say("Committing");
    const about = { message, branch: form.dataset.branch };
    if (parent !== null) about.parent = parent;
    await sendLines(`${api}/commits`, [about, ...changes]);
    finish();
  }

  function finish() {
    isBusy = false;
    location.assign(page);
  }

  function showMoved() {
    part("moved").hidden = false;
    const look = new URL(page, location.href);
    part("look").href = `${look.pathname}/compare${look.search}`;
    part("moved").scrollIntoView({ block: "nearest" });
  }

  const send = (method, url, body) =>
    request(method, url, "application/json", JSON.stringify(body));

  // A line each, because a commit may have a million files
  const sendLines = (url, rows) =>
    request("POST", url, "application/x-ndjson", rows.map((row) => JSON.stringify(row)).join("\n"));

  async function request(method, url, type, body) {
    let answer;
    try {
      answer = await fetch(url, {
        method,
        body,
        headers: {
          "Content-Type": type,
          "X-CSRFToken": form.elements.csrfmiddlewaretoken.value,
        },
      });
    } catch {
      throw new Error(say("The connection was lost. Try again; what was sent is kept."));
    }
    const data = parsed(await answer.text());
    if (answer.ok) return data;
    const faults = (data.errors ?? []).map(({ message }) => message).join(" ");
    const problem = new Error(faults || data.detail || say("The upload failed. Try again."));
    problem.code = data.code;
    throw problem;
  }

  show();
}

// A drop anywhere on the page goes to the form; one in a dialog opens it.
const form = document.querySelector("form[data-dataset-upload]");
const dialog = form?.closest("dialog");
if (form) {
  let depth = 0;
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  const over = (isOver) => form.querySelector("[data-drop]").classList.toggle("is-over", isOver);
  document.addEventListener("dragenter", (event) => {
    if (!hasFiles(event)) return;
    depth += 1;
    if (dialog && !dialog.open) dialog.showModal();
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
    if (dialog && !dialog.open) dialog.showModal();
    const detail = await droppedFiles(event.dataTransfer);
    form.dispatchEvent(new CustomEvent("dropped", { detail }));
  });
  for (const link of document.querySelectorAll("[data-opens-upload], dialog [data-cancel]")) {
    link.addEventListener("click", (event) => {
      if (!dialog) return;
      event.preventDefault();
      if (dialog.open) dialog.close();
      else dialog.showModal();
    });
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function sizeText(bytes) {
  const steps = ["B", "KiB", "MiB", "GiB", "TiB"];
  const step = bytes ? Math.min(Math.floor(Math.log2(bytes) / 10), 4) : 0;
  const value = bytes / 1024 ** step;
  return `${count(step ? Number(value.toFixed(1)) : value)} ${steps[step]}`;
}
