import assert from "node:assert/strict";
import { test } from "node:test";
import uPlot from "../../../static/vendor/uplot.js";
import { around, clock, moment } from "../../../static/js/charts/axis.js";

const at = (...parts) => new Date(...parts).getTime() / 1000;

test("a curve of one point spans a minute, and one of one step two steps", () => {
  assert.deepEqual(around(100, 100, false), [70, 130]);
  assert.deepEqual(around(5, 5, true), [4, 6]);
  assert.deepEqual(around(5, 9, false), [5, 9]);
  assert.deepEqual(around(5, 9, false, [5, 9]), [5, 9]);
  assert.deepEqual(around(null, null, false), [null, null]);
});

test("a single point is in the middle, whatever range the library makes of it", () => {
  for (const at of [-40, 0, 1, 1000, 1_764_298_000]) {
    const [low, high] = uPlot.rangeNum(at, at, 0.1, true); // as without a time axis
    assert.deepEqual(around(low, high, true, [at]), [at - 1, at + 1]);
    assert.deepEqual(around(at, at + 86_400, false, [at]), [at - 30, at + 30]);
  }
});

test("ticks tell the time, and the day where it changes", () => {
  const ticks = [at(2026, 10, 22, 23, 0), at(2026, 10, 22, 23, 30), at(2026, 10, 23, 0, 0)];
  assert.deepEqual(clock(ticks, 1800), ["23:00\n11-22", "23:30", "00:00\n11-23"]);
  assert.deepEqual(clock([at(2026, 10, 22, 9, 5, 7)], 1), ["09:05:07\n11-22"]);
  assert.deepEqual(clock([at(2026, 10, 22), at(2026, 10, 23)], 86400), ["11-22", "11-23"]);
  assert.equal(moment(at(2026, 10, 22, 9, 5, 7)), "11-22 09:05:07");
});
