import assert from "node:assert/strict";
import test from "node:test";

import { matches, ranked, remembered } from "../../../static/js/palette.js";

const invite = { title: "Invite people", words: "add user, add member, 초대", kind: "action" };

test("an action is found by its other words, in any order", () => {
  assert.ok(matches(invite, ["member", "add"]) && matches(invite, ["초대"]));
  assert.ok(!matches(invite, ["add", "team"]));
});

test("titles that begin with a word come first", () => {
  const found = ranked([{ title: "My jobs" }, { title: "Jobs" }], ["jobs"]);
  assert.deepEqual(
    found.map((item) => item.title),
    ["Jobs", "My jobs"],
  );
});

test("each item is remembered once, an action without an address by its title", () => {
  const dark = { title: "Dark theme", theme: "dark" };
  const page = { title: "Jobs", url: "/a/jobs" };
  const twice = remembered(remembered([dark, page], { ...page, note: "g j" }), dark);
  assert.deepEqual(
    twice.map((item) => item.title),
    ["Dark theme", "Jobs"],
  );
});
