// A job's YAML as a document that keeps comments and order: the form reads and writes single fields.
import { say } from "./words.js";
import * as yaml from "../vendor/yaml.js";

const FORMAT = { lineWidth: 0, flowCollectionPadding: false };
const TEXTS = new Set(["name", "experiment", "image", "run", "setup", "policy.pool"]); // `2` is text here, elsewhere a number

export class SpecDocument {
  // `problem` is why the form cannot change the text: { message, line }, or null.
  constructor(text) {
    this.isScript = text.startsWith("#!");
    const counter = new yaml.LineCounter();
    this.doc = yaml.parseDocument(this.isScript ? "" : text, {
      lineCounter: counter,
      prettyErrors: false,
    });
    const [error] = this.doc.errors;
    this.problem = null;
    if (error) this.problem = { message: error.message, line: counter.linePos(error.pos[0]).line };
    else if (!isMapping(this.doc.contents))
      this.problem = { message: say("Write one `field: value` on each line."), line: 1 };
  }

  toString() {
    return this.doc.contents ? this.doc.toString(FORMAT) : "";
  }

  // Return a field as the form shows it; "" if it is absent.
  read(field) {
    if (field.startsWith("accelerators.")) return this.#accelerators()[field.split(".")[1]];
    if (field.startsWith("array.")) return this.#array()[field.split(".")[1]];
    if (field === "after") return this.#list("after").join(", ");
    return shown(this.#node(field.split("."))).replace(/\n$/, "");
  }

  // Change a field; "" removes it.
  write(field, value) {
    if (field.startsWith("accelerators.")) {
      const isCount = field === "accelerators.count",
        now = this.#accelerators();
      const count = isCount ? value : now.count || (value ? "1" : ""),
        type = isCount ? now.type : value;
      const isNone = count === "" || count === "0";
      this.#set(["resources", "accelerators"], isNone ? "" : type ? `${type}:${count}` : count);
    } else if (field.startsWith("array.")) {
      this.#setArray({ ...this.#array(), [field.split(".")[1]]: value });
    } else if (field === "after") {
      const jobs = value.split(",").map((job) => job.trim());
      this.#setList(["after"], jobs.filter(Boolean));
    } else this.#set(field.split("."), value, TEXTS.has(field));
  }

  // Return the entries of a mapping such as `envs`: [[name, value], …]; of `workspaces` with a mode,
  // "ro" or "".
  pairs(field) {
    const map = this.#node([field]);
    if (!yaml.isMap(map)) return [];
    if (field === "workspaces")
      return map.items.map(({ key, value }) => [shown(key), ...workspace(value)]);
    return map.items.map((pair) => [shown(pair.key), shown(pair.value).replace(/\n$/, "")]);
  }

  // Entries stay at their place with their comments; a removed one is found by its name.
  setPairs(field, pairs) {
    if (!pairs.length) return this.#set([field], "");
    let map = this.#node([field]);
    if (!yaml.isMap(map)) {
      this.#ensure().set(field, this.doc.createNode({}));
      map = this.#node([field]);
      map.flow = false;
    }
    while (map.items.length > pairs.length) {
      const at = map.items.findIndex((pair, n) => shown(pair.key) !== pairs[n]?.[0]);
      map.items.splice(at, 1);
    }
    pairs.forEach(([name, value, mode], n) => {
      if (!map.items[n]) map.items.push(this.doc.createPair(name, scalar(value)));
      const pair = map.items[n];
      if (shown(pair.key) !== name) pair.key = this.doc.createNode(name);
      if (mode !== undefined) this.#setWorkspace(pair, value, mode);
      else if (shown(pair.value) !== value) pair.value = renewed(pair.value, value, false);
    });
  }

  // Forms: code, {workspace: code, read_only: true}.
  #setWorkspace(pair, value, mode) {
    if (!yaml.isMap(pair.value)) {
      if (shown(pair.value) !== value) pair.value = renewed(pair.value, value, true);
      if (mode !== "ro") return;
      const { comment } = pair.value;
      pair.value = this.doc.createNode({ workspace: value });
      pair.value.comment = comment;
      pair.value.flow = true;
    }
    const map = pair.value;
    if (shown(map.get("workspace", true)) !== value) map.set("workspace", value);
    if (mode === "ro") map.set("read_only", true);
    else map.delete("read_only");
    if (map.items.length > 1) return;
    const { comment } = map;
    pair.value = new yaml.Scalar(value);
    pair.value.comment = comment;
  }

  #node(path) {
    return path.reduce(
      (node, key) => (yaml.isMap(node) ? node.get(key, true) : undefined),
      this.doc.contents,
    );
  }

  #ensure() {
    this.doc.contents ??= this.doc.createNode({});
    return this.doc.contents;
  }

  #set(path, value, isText = false) {
    const root = this.#ensure(),
      last = path.at(-1);
    if (value === "") return this.#remove(path);
    let parent = root;
    if (path.length > 1) {
      parent = this.#node([path[0]]);
      if (!yaml.isMap(parent)) {
        root.set(path[0], this.doc.createNode({}));
        parent = this.#node([path[0]]);
      }
    }
    const now = parent.get(last, true);
    if (now !== undefined) parent.set(last, renewed(now, value, isText));
    else {
      const pair = this.doc.createPair(last, renewed(null, value, isText));
      if (last === "name" && parent === root) root.items.unshift(pair);
      else parent.items.push(pair);
    }
    if (parent === root && last === "name") liftComment(root);
  }

  #remove(path) {
    if (!this.doc.hasIn(path)) return;
    this.doc.deleteIn(path);
    if (path.length > 1 && !this.#node([path[0]])?.items.length) this.doc.delete(path[0]);
  }

  #list(field) {
    const node = this.#node([field]);
    if (yaml.isSeq(node)) return node.items.map(shown);
    return node === undefined || yaml.isMap(node) || shown(node) === "" ? [] : [shown(node)];
  }

  #setList(path, values) {
    if (!values.length) return this.#remove(path);
    const list = this.doc.createNode(values.map((value) => scalar(value)));
    list.flow = true;
    this.#ensure().set(path[0], list);
  }

  // Forms: 2, H100:8, H100, {H100: 8}.
  #accelerators() {
    const node = this.#node(["resources", "accelerators"]);
    if (yaml.isMap(node)) {
      const [pair] = node.items;
      return pair ? { type: lower(shown(pair.key)), count: shown(pair.value) || "1" } : NO_GPUS;
    }
    const text = shown(node),
      at = text.lastIndexOf(":");
    if (at >= 0) return { type: lower(text.slice(0, at)), count: text.slice(at + 1).trim() };
    return Number.isNaN(Number(text))
      ? { type: lower(text), count: "1" }
      : { type: "", count: text };
  }

  // Forms: 100, 0-99:2%4, {size: 100, max_parallel: 4}, {range: 0-99, max_parallel: 4}.
  #array() {
    const node = this.#node(["array"]);
    if (yaml.isMap(node))
      return {
        tasks: shown(node.get("size", true)) || shown(node.get("range", true)),
        parallel: shown(node.get("max_parallel", true)),
      };
    const [tasks, parallel = ""] = shown(node).split("%");
    return { tasks, parallel };
  }

  #setArray({ tasks, parallel }) {
    if (!tasks) return this.#remove(["array"]);
    const key = Number.isNaN(Number(tasks)) ? "range" : "size";
    if (!parallel && !yaml.isMap(this.#node(["array"]))) return this.#set(["array"], tasks);
    if (!yaml.isMap(this.#node(["array"]))) {
      this.#ensure().set("array", this.doc.createNode({}));
      this.#node(["array"]).flow = true;
    }
    this.#node(["array"]).delete(key === "size" ? "range" : "size");
    this.#set(["array", key], tasks);
    this.#set(["array", "max_parallel"], parallel);
  }
}

// Return the smallest replacement that turns one text into the other: { from, to, insert }.
export function replacement(before, after) {
  let from = 0;
  const least = Math.min(before.length, after.length);
  while (from < least && before[from] === after[from]) from++;
  let end = 0;
  while (end < least - from && before.at(-1 - end) === after.at(-1 - end)) end++;
  return { from, to: before.length - end, insert: after.slice(from, after.length - end) };
}

const NO_GPUS = { type: "", count: "" };
const isMapping = (node) => node == null || yaml.isMap(node);
const isNumber = (node) => yaml.isScalar(node) && typeof node.value === "number";
const lower = (text) => text.trim().toLowerCase();

// A scalar as it is typed: `1e-3`, not 0.001.
function shown(node) {
  if (!yaml.isScalar(node) || node.value === null) return "";
  return typeof node.value === "string" ? node.value : (node.source ?? String(node.value));
}

// The name and the mode of an entry of `workspaces`.
function workspace(node) {
  if (!yaml.isMap(node)) return [shown(node), ""];
  return [shown(node.get("workspace", true)), node.get("read_only") === true ? "ro" : ""];
}

// A number stays one only if it is written back as it was typed: `3e-4`, but not `007`.
function scalar(value) {
  const node = yaml.parseDocument(value).contents;
  const isSame = isNumber(node) && String(new yaml.Document(node)).trim() === value;
  return isSame ? node : new yaml.Scalar(value);
}

// The new value of a node, with the comments of the old one.
function renewed(node, value, isText) {
  const fresh = isText ? new yaml.Scalar(value) : scalar(value);
  if (value.includes("\n")) {
    fresh.value = value.endsWith("\n") ? value : `${value}\n`;
    fresh.type = yaml.Scalar.BLOCK_LITERAL;
  } else if (
    yaml.isScalar(node) &&
    node.value &&
    node.type?.startsWith("QUOTE") &&
    !isNumber(fresh)
  )
    fresh.type = node.type;
  if (node) {
    fresh.comment = node.comment;
    fresh.commentBefore = node.commentBefore;
    fresh.spaceBefore = node.spaceBefore;
  }
  return fresh;
}

// The first comment of the file stays first when a name is put before it.
function liftComment(root) {
  const [name, next] = root.items;
  const key = next?.key;
  if (
    yaml.isScalar(key) &&
    key.commentBefore &&
    !name.key.commentBefore &&
    root.commentBefore == null
  ) {
    root.commentBefore = key.commentBefore;
    key.commentBefore = undefined;
  }
}
