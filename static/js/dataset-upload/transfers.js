// Send files in pieces that resume (tus). All transfers pause and go on together.
import { Upload } from "../../vendor/tus.js";
import { say } from "../words.js";
import { parsed } from "./requests.js";

const PIECE = 64 << 20; // bytes of a request
const WAITS = [0, 500, 1000, 2000, 4000, ...Array(200).fill(5000)]; // ms between attempts

export class Transfers {
  isPaused = false;
  #running = new Set();

  constructor({ csrf, onLost }) {
    this.csrf = csrf;
    this.onLost = onLost;
  }

  // Send a file to `api` under a path; the promise has its SHA-256, "" if the portal tells none.
  send(file, { api, path, onProgress }) {
    return new Promise((resolve, reject) => {
      let sha256 = "";
      const upload = new Upload(file, {
        endpoint: `${api}/uploads`,
        chunkSize: PIECE,
        retryDelays: WAITS,
        metadata: { filename: path },
        headers: { "X-CSRFToken": this.csrf },
        removeFingerprintOnSuccess: true,
        // Files of one name and size in two folders are two uploads
        fingerprint: () =>
          Promise.resolve(["muster", api, path, file.size, file.lastModified].join("\n")),
        onShouldRetry: (problem) => {
          const status = problem.originalResponse?.getStatus() ?? 0;
          const retries = !status || status >= 500 || [408, 409, 423, 429].includes(status);
          if (retries) this.onLost();
          return retries;
        },
        onProgress,
        onAfterResponse: (_request, response) => {
          sha256 = response.getHeader("Upload-Sha256") ?? sha256;
        },
        onSuccess: () => {
          this.#running.delete(upload);
          resolve(sha256);
        },
        onError: (problem) => {
          this.#running.delete(upload);
          const answer = parsed(problem.originalResponse?.getBody() ?? "");
          reject(new Error(answer.detail ?? say("The upload failed. Try again.")));
        },
      });
      this.#running.add(upload);
      upload.findPreviousUploads().then((previous) => {
        if (previous.length) upload.resumeFromPreviousUpload(previous[0]);
        if (!this.isPaused) upload.start();
      }, reject);
    });
  }

  setPaused(value) {
    this.isPaused = value;
    if (value) for (const one of this.#running) one.abort();
    else this.restart();
  }

  restart() {
    for (const one of this.#running) one.abort().then(() => one.start());
  }

  // End them; what was sent is kept.
  stop() {
    for (const one of this.#running) one.abort();
    this.#running = new Set();
  }
}
