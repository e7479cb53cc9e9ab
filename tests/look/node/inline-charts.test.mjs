import assert from "node:assert/strict";
import { test } from "node:test";

import { stacked } from "../../../static/js/charts/curves.js";
import { formatOf, ticksFormatOf } from "../../../static/js/charts/format.js";

const line = (kind, ...raw) => ({ curve: { kind }, raw, ys: raw });

test("areas are stacked with gaps where none has a value, and limits stay outside", () => {
  const found = stacked([
    line("area", 1, null, null),
    line("area", 2, 3, null),
    line("limit", 9, 9, 9),
  ]);
  assert.deepEqual(
    found.map(({ ys }) => ys),
    [
      [3, 3, null],
      [1, 0, null],
      [9, 9, 9],
    ],
  );
  assert.deepEqual(
    found.map(({ isStacked }) => Boolean(isStacked)),
    [true, true, false],
  );
});

test("a bar without a value is not drawn, also on top of others", () => {
  const [forecast, bars] = stacked([line("bars", 5, 2, null), line("forecast", null, 3, 5)]);
  assert.deepEqual(
    [bars.ys, forecast.ys],
    [
      [5, 2, null],
      [null, 5, 5],
    ],
  );
});

test("a legend names the unit, and an axis does not repeat it", () => {
  assert.equal(formatOf("GPUs")(12.34), "12.3 GPUs");
  assert.equal(ticksFormatOf("GPUs")(12), "12");
  assert.equal(ticksFormatOf("W")(1500), "1.5 kW");
});
