// Upload a version of a model: create it, send its files one by one with progress, and finish it.
// Files that were sent before a failure are not sent again.
import { count, say } from "./words.js";

const form = document.querySelector("form[data-upload]");
if (form) start();

function start() {
  const button = form.querySelector("button.primary"),
    list = form.querySelector("[data-files]"),
    total = form.querySelector("[data-total]"),
    error = form.querySelector("[data-error]"),
    drop = form.querySelector("[data-drop]");
  const chosen = new Map(); // path -> File
  const sent = new Set(); // paths
  let version = 0,
    current = null;

  const add = (files) => {
    for (const file of files) {
      // The name of the chosen folder is not part of the model
      const path = file.webkitRelativePath.split("/").slice(1).join("/") || file.name;
      chosen.set(path, file);
      sent.delete(path);
    }
    show();
  };
  form.addEventListener("change", ({ target }) => target.type === "file" && add(target.files));
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("is-over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("is-over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("is-over");
    add(event.dataTransfer.files);
  });

  function show() {
    list.replaceChildren(
      ...[...chosen].map(([path, file]) => {
        const item = document.createElement("li");
        const name = Object.assign(document.createElement("span"), {
          className: "mono clip",
          textContent: path,
        });
        const size = Object.assign(document.createElement("span"), {
          className: "muted nowrap",
          textContent: sent.has(path)
            ? say("Uploaded", { context: "text, model-upload" })
            : sizeText(file.size),
        });
        item.append(name, size);
        return item;
      }),
    );
    button.disabled = !chosen.size || current !== null;
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    error.hidden = true;
    total.hidden = false;
    current = new AbortController();
    show();
    try {
      location.assign(`${form.dataset.page}/versions/${await upload()}`);
    } catch (problem) {
      current = null;
      if (problem.name === "AbortError") return;
      error.textContent = problem.message;
      error.hidden = false;
      button.textContent = say("Try again", { context: "button" });
      show();
    }
  });

  async function upload() {
    if (!version) {
      const body = JSON.stringify({ description: form.elements.description.value });
      version = (await send("POST", form.dataset.upload, body)).version;
    }
    const base = `${form.dataset.upload}/${version}`;
    const all = [...chosen.values()].reduce((sum, file) => sum + file.size, 0);
    let before = 0;
    for (const [path, file] of chosen) {
      if (!sent.has(path)) {
        const url = `${base}/files/${path.split("/").map(encodeURIComponent).join("/")}`;
        await send("PUT", url, file, (now) => progress((before + now) / (all || 1)));
        sent.add(path);
        show();
      }
      before += file.size;
      progress(before / (all || 1));
    }
    await send("POST", `${base}/finish`, "{}");
    return version;
  }

  function progress(part) {
    total.querySelector("progress").value = part;
    total.querySelector("[data-percent]").textContent = `${count(Math.floor(part * 100))}%`;
  }

  // fetch reports no progress of uploads
  function send(method, url, body, onProgress) {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open(method, url);
      request.setRequestHeader("X-CSRFToken", form.elements.csrfmiddlewaretoken.value);
      const kind = body instanceof File ? "application/octet-stream" : "application/json";
      request.setRequestHeader("Content-Type", kind);
      request.upload.addEventListener("progress", (event) => onProgress?.(event.loaded));
      request.addEventListener("load", () => {
        const answer = parsed(request.responseText);
        if (request.status < 300) resolve(answer);
        else reject(new Error(answer.detail ?? say("The upload failed. Try again.")));
      });
      request.addEventListener("error", () =>
        reject(new Error(say("The connection was lost. Try again; what was sent is kept."))),
      );
      request.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
      current.signal.addEventListener("abort", () => request.abort());
      request.send(body);
    });
  }

  form.querySelector("[data-cancel]").addEventListener("click", () => {
    current?.abort();
    if (version)
      fetch(`${form.dataset.upload}/${version}`, {
        method: "DELETE",
        keepalive: true,
        headers: { "X-CSRFToken": form.elements.csrfmiddlewaretoken.value },
      });
  });
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
