import assert from "node:assert/strict";
import test from "node:test";

import { Groups } from "../../../static/js/log-groups.js";

const LOG = [
  "start",
  "::group::Install packages",
  "one",
  "two",
  "::endgroup::",
  "between",
  "##[group]Train",
  "epoch 1",
  "::group::Evaluate",
  "accuracy",
];

function read(lines, change = () => {}) {
  const groups = new Groups();
  change(groups);
  lines.forEach((text, line) => groups.see(line, text));
  return groups;
}

const shown = (groups, count, first = 0) =>
  Array.from({ length: count - first - groups.hidden }, (_, place) => groups.lineAt(place, first));

test("complete groups are folded, and the one still being written is not", () => {
  const groups = read(LOG);
  assert.deepEqual(shown(groups, LOG.length), [0, 1, 5, 6, 8, 9]);
  assert.equal(groups.headAt(1).title, "Install packages");
  assert.equal(groups.headAt(8).isFolded, false);
  assert.equal(groups.headAt(2), undefined);
});

test("places and lines are inverse, whatever is folded", () => {
  for (let mask = 0; mask < 4; mask++) {
    const groups = read(LOG);
    if (mask & 1) groups.toggle(1);
    if (mask & 2) groups.toggle(6);
    const lines = shown(groups, LOG.length);
    assert.deepEqual(
      lines.map((line) => groups.placeOf(line, 0)),
      [...lines.keys()],
    );
    assert.equal(groups.placeOf(3, 0), mask & 1 ? 3 : 1); // a hidden line is where its head is
  }
});

test("going to a line opens its group, before or after the group is complete", () => {
  const groups = read(LOG);
  groups.open(3);
  assert.deepEqual(shown(groups, LOG.length), [0, 1, 2, 3, 4, 5, 6, 8, 9]);
  assert.equal(read(LOG, (early) => early.open(3)).headAt(1).isFolded, false);
});

test("dropped lines take their groups along, and lines read twice count once", () => {
  const groups = read(LOG);
  groups.see(1, "::group::again");
  groups.forget(2);
  assert.deepEqual(shown(groups, LOG.length, 2), [2, 3, 4, 5, 6, 8, 9]);
});
