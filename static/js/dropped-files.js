// Read the files of a drop or of a file input with their paths. A folder is read with all in it.

// Return [{path, file}] of an input; `webkitRelativePath` begins with the name of the chosen folder.
export const chosenFiles = (input) =>
  [...input.files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));

// Return [{path, file}] of a drop. The entries must be taken before the first wait.
export async function droppedFiles(transfer) {
  const entries = [...transfer.items]
    .filter(({ kind }) => kind === "file")
    .map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile());
  const found = [];
  for (const entry of entries) {
    if (entry instanceof File) found.push({ path: entry.name, file: entry });
    else if (entry) await read(entry, found);
  }
  return found;
}

async function read(entry, found) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    found.push({ path: entry.fullPath.replace(/^\//, ""), file });
    return;
  }
  const reader = entry.createReader();
  // A browser returns the entries of a folder in parts, the last of which is empty
  for (;;) {
    const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!part.length) return;
    for (const one of part) await read(one, found);
  }
}

// The folder that all paths are in, "" if there is none.
export function commonFolder(paths) {
  const first = paths[0]?.split("/")[0] ?? "";
  return paths.length && paths.every((path) => path.startsWith(`${first}/`)) ? first : "";
}
