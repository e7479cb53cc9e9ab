import assert from "node:assert/strict";
import test from "node:test";

import { uniquePairs } from "../../../static/js/pair-rows.js";

test("form rows keep order, also while a name is typed that another row has", () => {
  const rows = [
    ["Z", "1"],
    ["A", "2"],
    ["", "no name yet"],
    ["10", "3"],
    ["Z", "4"],
    ["2", ""],
  ];
  assert.deepEqual(uniquePairs(rows), [
    ["Z", "1"],
    ["A", "2"],
    ["10", "3"],
    ["2", ""],
  ]);
});

test("rows of workspaces keep their mode", () => {
  assert.deepEqual(
    uniquePairs([
      ["a", "b", "ro"],
      ["a", "c", ""],
    ]),
    [["a", "b", "ro"]],
  );
});
