import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";

const JS = new URL("../../../static/js/", import.meta.url);
const WORDS = {
  "just now": "방금",
  "{time} ago": "{time} 전",
  "{n} min": "{n}분",
  "in {time}": "{time} 후",
  Copied: "복사됨",
  "state of a node\u0004down": "중지됨",
};
const name = (url) => new URL(url, JS).href;
globalThis.words = WORDS;
const { say } = await import(name("words.js"));
const { ago } = await import(name("time.js"));

test("a text is said in the page's language, with its values in their new places", () => {
  assert.equal(say("Copied"), "복사됨");
  assert.equal(say("{n} min", { n: 5 }), "5분");
});

test("a context chooses the translation, and a text without its own is found", () => {
  assert.equal(say("down", { context: "state of a node" }), "중지됨");
  assert.equal(say("{n} min", { context: "duration", n: 5 }), "5분");
});

test("what no catalogue knows is said in English, values and all", () => {
  assert.equal(say("{n} of {all}", { n: 1, all: 3 }), "1 of 3");
  assert.equal(say("{n} of {all}", { n: "{all}", all: 3 }), "{all} of 3");
});

test("a time is told from the moment: past, present, to come", () => {
  assert.deepEqual([ago(320), ago(2), ago(-3), ago(-400)], ["5분 전", "방금", "방금", "6분 후"]);
});

test("every text that the modules say stands in every catalogue, with the same values", () => {
  const said = readdirSync(JS, { recursive: true })
    .filter((file) => file.endsWith(".js") && !file.startsWith("words/"))
    .flatMap((file) =>
      [
        ...readFileSync(new URL(file, JS), "utf8").matchAll(
          /\bsay\(\s*"((?:[^"\\]|\\.)*)"(?:,\s*\{\s*context: "([^"]*)")?/g,
        ),
      ].map((m) => (m[2] ? `${m[2]}\u0004${m[1]}` : m[1])),
    );
  assert.ok(said.length > 40);
  for (const language of readdirSync(new URL("words/", JS))) {
    new Function(readFileSync(new URL(`words/${language}`, JS), "utf8"))();
    const values = (text) => (text.match(/\{\w+\}/g) ?? []).sort();
    for (const text of new Set([...said, "running", "failed"])) {
      assert.ok(globalThis.words[text], `${language} lacks ${text}`);
      assert.deepEqual(values(globalThis.words[text]), values(text), `${language}: ${text}`);
    }
  }
});

test("no module shows English that it does not say", () => {
  const shown =
      /(?:textContent|title|placeholder|label) ?= ?(?:"[^"]*[a-z]{2}|`(?:[^`$]|\$(?!\{))*\b[a-z]{3,}\b)/,
    sentence = /(?<!say\(\s*)"[A-Z]\w* [^"]*[a-z]{2}[^"]*"/;
  for (const line of [
    'button.textContent = "Copied";',
    "more.textContent = ` lines of ${n}`;",
    'bar.textContent = gone ? "You are signed out." : "";',
  ])
    assert.ok(shown.test(line) || sentence.test(line), line);
  for (const file of readdirSync(JS).filter((f) => f.endsWith(".js")))
    readFileSync(new URL(file, JS), "utf8")
      .replace(/say\(\s+/g, "say(")
      .split("\n")
      .forEach((line, i) =>
        assert.ok(
          line.startsWith("//") || (!shown.test(line) && !sentence.test(line)),
          `${file}:${i + 1}: ${line}`,
        ),
      );
});
