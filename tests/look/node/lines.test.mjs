import assert from "node:assert/strict";
import test from "node:test";

import { Lines } from "../../../static/js/lines.js";

const bytes = (text) => new TextEncoder().encode(text);

// A small generator with a seed: a failure can be run again.
function random(seed) {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
}

function fed(text, pieces) {
  const lines = new Lines(),
    data = bytes(text);
  let at = 0;
  while (at < data.length) {
    const size = Math.max(1, Math.floor(pieces() * 40));
    lines.push(at, 1000, data.subarray(at, at + size));
    at += size;
  }
  return lines;
}

const all = (lines) =>
  Array.from({ length: lines.count - lines.first }, (_, i) => lines.text(lines.first + i));

test("however the bytes are cut, the lines are the lines of the file", () => {
  const text =
    Array.from({ length: 400 }, (_, i) =>
      i % 7 ? `line ${i} 한국어 ✓ ${"x".repeat(i % 50)}` : "",
    ).join("\n") + "\nno end";
  for (let seed = 1; seed <= 20; seed++)
    assert.deepEqual(all(fed(text, random(seed))), text.split("\n"));
});

test("a line that is still being written counts, and an end of line begins no new one", () => {
  const lines = new Lines();
  assert.equal(lines.count, 0);
  lines.push(0, 1, bytes("a"));
  assert.equal(lines.count, 1);
  lines.push(1, 1, bytes("b\n"));
  assert.equal(lines.count, 1);
  assert.equal(lines.text(0), "ab");
});

test("bytes that come twice are taken once", () => {
  const lines = new Lines();
  lines.push(0, 1, bytes("one\ntwo\n"));
  lines.push(4, 2, bytes("two\nthree\n"));
  lines.push(0, 3, bytes("one\n"));
  assert.deepEqual(all(lines), ["one", "two", "three"]);
});

test("what is let go keeps the numbers of what stays, and memory stays within its bound", () => {
  const lines = new Lines(10_000);
  let at = 0;
  for (let i = 0; i < 5000; i++) {
    const data = bytes(`line ${i}\n`);
    lines.push(at, i, data);
    at += data.length;
  }
  assert.ok(lines.first > 0);
  assert.equal(lines.count, 5000);
  assert.equal(lines.text(lines.first), `line ${lines.first}`);
  assert.equal(lines.text(4999), "line 4999");
  assert.ok(lines.chunks.reduce((sum, c) => sum + c.data.length, 0) <= 10_000);
});

test("a progress bar of a megabyte shows its last state, not its first", () => {
  const lines = new Lines();
  lines.push(0, 1, bytes(Array.from({ length: 50_000 }, (_, i) => `step ${i}`).join("\r") + "\n"));
  assert.match(lines.text(0), /step 49999$/);
});

test("a very long line is cut and says so", () => {
  const lines = new Lines();
  lines.push(0, 1, bytes("x".repeat(300_000) + "\nnext\n"));
  assert.ok(lines.text(0).length < 30_000);
  assert.match(lines.text(0), /very long line/);
  assert.equal(lines.text(1), "next");
});

test("after a gap the next bytes are a line of their own, unbroken", () => {
  const lines = new Lines();
  lines.push(0, 1, bytes("before\nhalf"));
  lines.push(1000, 2, bytes("after\nlast\n"));
  assert.deepEqual(all(lines), ["before", "half", "after", "last"]);
});

test("a gap behind a whole line adds no empty one", () => {
  const lines = new Lines();
  lines.push(0, 1, bytes("before\n"));
  lines.push(1000, 2, bytes("after\n"));
  assert.deepEqual(all(lines), ["before", "after"]);
});

test("each line tells when its first byte came", () => {
  const lines = new Lines();
  lines.push(0, 5000, bytes("a\nb\n"));
  lines.push(4, 9000, bytes("c\n"));
  assert.deepEqual(
    [0, 1, 2].map((n) => lines.timeOf(n)),
    [5000, 5000, 9000],
  );
});
