import assert from "node:assert/strict";
import test from "node:test";

import { SpecDocument, replacement } from "../../../static/js/spec-document.js";

const TEXT = `# first comment
name: train # who

# resources
resources: {cpus: 1, memory: 1Gi} # for GPU
envs:
  LR: 1e-3 # the rate
  SEED: "1"
run: |
  echo hi
  python train.py
array: {size: 6, max_parallel: 2}
after: [12, "#13:any"]
`;

function edited(text, ...changes) {
  const spec = new SpecDocument(text);
  for (const [field, value] of changes)
    Array.isArray(value) ? spec.setPairs(field, value) : spec.write(field, value);
  return spec.toString();
}

test("reading and writing nothing keeps the text", () => {
  assert.equal(edited(TEXT), TEXT);
});

test("comments and order survive a change of every kind of field", () => {
  const after = edited(
    TEXT,
    ["name", "other"],
    ["accelerators.count", "2"],
    ["accelerators.type", "h100"],
    ["array.parallel", "3"],
    [
      "envs",
      [
        ["LR", "3e-4"],
        ["SEED", "007"],
        ["NEW", "a: b"],
      ],
    ],
    ["policy.priority", "high"],
  );
  assert.equal(
    after,
    TEXT.replace("train #", "other #")
      .replace("1Gi}", "1Gi, accelerators: h100:2}")
      .replace("max_parallel: 2", "max_parallel: 3")
      .replace("1e-3 #", "3e-4 #")
      .replace('"1"', '"007"\n  NEW: "a: b"') + "policy:\n  priority: high\n",
  );
});

test("a field that is emptied goes away with its empty section", () => {
  const text = edited("run: x\npolicy:\n  priority: high\n", ["policy.priority", ""]);
  assert.equal(text, "run: x\n");
  assert.equal(
    edited("run: x\nresources: {accelerators: 2}\n", ["accelerators.count", ""]),
    "run: x\n",
  );
  assert.equal(
    edited("run: x\nenvs: {A: 1, B: 2}\n", ["envs", [["B", "2"]]]),
    "run: x\nenvs: {B: 2}\n",
  );
});

test("every form of GPUs and arrays is read", () => {
  const read = (text, field) => new SpecDocument(text).read(field);
  for (const [value, count, type] of [
    ["2", "2", ""],
    ["H100:8", "8", "h100"],
    ["{H100: 8}", "8", "h100"],
    ["a100", "1", "a100"],
  ]) {
    assert.equal(read(`resources: {accelerators: ${value}}`, "accelerators.count"), count);
    assert.equal(read(`resources: {accelerators: ${value}}`, "accelerators.type"), type);
  }
  assert.equal(read("array: 0-99:2%4", "array.tasks"), "0-99:2");
  assert.equal(read("array: 0-99:2%4", "array.parallel"), "4");
  assert.equal(read(TEXT, "after"), "12, #13:any");
});

test("several lines become a block, and one line a plain text again", () => {
  const block = edited("run: x\n", ["run", "a\nb"]);
  assert.equal(block, "run: |\n  a\n  b\n");
  assert.equal(edited(block, ["run", "a"]), "run: a\n");
});

test("invalid text has a line and a script is no document", () => {
  assert.equal(new SpecDocument("a: 1\nb: [\n").problem.line, 3);
  assert.equal(new SpecDocument("- a").problem.line, 1);
  assert.equal(new SpecDocument("").problem, null);
  assert.equal(new SpecDocument("#!/bin/sh\n").isScript, true);
});

test("the replacement is as small as possible", () => {
  for (const [before, after] of [
    ["abcd", "abXcd"],
    ["aaa", "aa"],
    ["", "x"],
    ["x", "x"],
  ]) {
    const { from, to, insert } = replacement(before, after);
    assert.equal(before.slice(0, from) + insert + before.slice(to), after);
  }
  assert.deepEqual(replacement("abcd", "abXcd"), { from: 2, to: 2, insert: "X" });
});

test("a workspace gets its mode, keeps its path, and is text again without both", () => {
  const start = "run: x\nworkspaces:\n  code: vision-code # mine\n";
  const edit = (text, ...rows) => edited(text, ["workspaces", rows]);
  const only = edit(start, ["code", "vision-code", "ro"]);
  assert.equal(
    only,
    "run: x\nworkspaces:\n  code: {workspace: vision-code, read_only: true} # mine\n",
  );
  assert.deepEqual(new SpecDocument(only).pairs("workspaces"), [["code", "vision-code", "ro"]]);
  assert.equal(edit(only, ["code", "vision-code", ""]), start);
  const path = "run: x\nworkspaces:\n  a: {workspace: b, path: /code}\n";
  assert.equal(edit(path, ["a", "c", ""]), path.replace("b,", "c,"));
  assert.equal(edit("run: x\n", ["a", "b", ""]), "run: x\nworkspaces:\n  a: b\n");
  assert.equal(edit("run: x\n", ["a", "b", "ro"], ["c", "d", ""]).split("\n").length, 5);
});
