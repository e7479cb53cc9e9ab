import assert from "node:assert/strict";
import test from "node:test";

import { parts, plain, settled } from "../../../static/js/ansi.js";

const text = (line) =>
  parts(line)
    .map((p) => p.text)
    .join("");

test("what is shown is what is searched", () => {
  for (const line of [
    "a\x1b[31mb\x1b[0mc",
    "\x1b]0;title\x07after",
    "x\ry\rz",
    "\x1b[2Kclean",
    "tab\there",
    "\x1b[38;5;208morange\x1b[m",
    "lone \x1b",
  ])
    assert.equal(text(line), plain(line));
});

test("colours become class names and nothing else", () => {
  assert.deepEqual(parts("\x1b[1;31mred\x1b[0m plain"), [
    { text: "red", classes: "a1 a31" },
    { text: " plain", classes: "" },
  ]);
});

test("no class name is ever made of what the log says", () => {
  for (const part of parts('\x1b[31;"onclick=x"mA\x1b[999;77;31337mB\x1b[38;2;1;2;3mC\x1b[4;4mD'))
    assert.match(part.classes, /^(a\d+ ?)*$/);
});

test("titles and links of a terminal are dropped, their text stays", () => {
  assert.equal(text("\x1b]0;evil\x07ok"), "ok");
  assert.equal(text("\x1b]8;;javascript:alert(1)\x1b\\link\x1b]8;;\x1b\\"), "link");
});

test("cursor movements and other controls leave nothing behind", () => {
  assert.equal(text("\x1b[2J\x1b[1;1H\x1b[?25la\x00\x07\x08b\x7f"), "ab");
  assert.equal(text("cut off \x1b["), "cut off ");
});

test("markup stays text", () => {
  const hostile = '<img src=x onerror="alert(1)"><script>alert(2)</script>&lt;';
  assert.deepEqual(parts(hostile), [{ text: hostile, classes: "" }]);
});

test("of a progress bar the last state stays", () => {
  assert.equal(settled("10%\r20%\r30%"), "30%");
  assert.equal(settled("10%\r20%\r"), "20%");
  assert.equal(settled("from windows\r"), "from windows");
});

test("a colour that is switched off is off, one that is replaced is gone", () => {
  assert.deepEqual(
    parts("\x1b[31ma\x1b[32mb\x1b[39mc").map((p) => p.classes),
    ["a31", "a32", ""],
  );
  assert.deepEqual(
    parts("\x1b[1;4ma\x1b[22mb\x1b[24mc").map((p) => p.classes),
    ["a1 a4", "a4", ""],
  );
});
