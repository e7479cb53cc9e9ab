// The files that were chosen: their paths in the repository, and how far each one is.
import { commonFolder } from "../dropped-files.js";

export class Chosen {
  files = []; // {path, file, state, sha256, sent}

  add(files) {
    const paths = new Set(files.map(({ path }) => path));
    this.files = [
      ...this.files.filter(({ path }) => !paths.has(path)),
      ...files.map((one) => ({ ...one, state: "", sha256: "", sent: 0 })),
    ].sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  get folder() {
    return commonFolder(this.files.map(({ path }) => path));
  }

  // The path in the repository: below a folder, perhaps without the name of the chosen folder
  target(path, { below, keepsFolder }) {
    const folder = keepsFolder ? "" : this.folder,
      start = below.replace(/^\/+|\/+$/g, "");
    return (start ? `${start}/` : "") + (folder ? path.slice(folder.length + 1) : path);
  }

  get size() {
    return this.files.reduce((sum, { file }) => sum + file.size, 0);
  }

  get sent() {
    return this.files.reduce((sum, { sent }) => sum + sent, 0);
  }

  get done() {
    return this.files.filter(({ state }) => state === "done" || state === "present").length;
  }

  get next() {
    return this.files.find(({ state }) => !["sending", "done", "present"].includes(state));
  }
}
