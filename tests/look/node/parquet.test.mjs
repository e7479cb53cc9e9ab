// Reading Parquet by ranges: values of each codec, and files that are damaged, large or no Parquet at all.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { cell, preview } from "../../../static/js/parquet-worker.js";

const file = (name) => readFileSync(new URL(`../parquet/${name}.parquet`, import.meta.url));

function shown(bytes, size = bytes.length) {
  return preview("x", size, async (_url, { headers }) => {
    const [, start, end] = headers.Range.match(/bytes=(\d+)-(\d+)/);
    const part = bytes.subarray(Number(start), Number(end) + 1);
    return {
      status: 206,
      arrayBuffer: async () => part.buffer.slice(part.byteOffset, part.byteOffset + part.length),
    };
  });
}

test("every codec gives the same first rows of all types", async () => {
  for (const codec of ["snappy", "gzip", "zstd", "brotli", "lz4"]) {
    const found = await shown(file(codec));
    assert.equal(found.numberOfRows, 150);
    assert.equal(found.rows, 100);
    const rows = Object.fromEntries(found.columns.map((one) => [one.name, one]));
    assert.deepEqual(
      Object.values(rows).map(({ type }) => type),
      [
        "int64",
        "string",
        "double",
        "timestamp",
        "list<string>",
        "struct<x: int64, y: struct<z: string>>",
        "byte_array",
        "decimal(10, 2)",
      ],
    );
    const second = Object.values(rows).map(({ cells }) => cells[8]);
    assert.deepEqual(second, [
      "8",
      "row 8 <b>&",
      "2",
      "2026-01-01T08:00:00.000Z",
      '["t0","t1"]',
      '{"x":8,"y":{"z":"deep"}}',
      `${"08 ".repeat(16)}… (20 B)`,
      "0.08",
    ]);
    assert.equal(rows.score.cells[7], "");
  }
});

test("a column that decompresses to too much is left out, the others are shown", async () => {
  const { columns } = await shown(file("bomb"));
  assert.deepEqual(
    columns.map(({ name, error, cells }) => [name, error, cells]),
    [
      ["z", "large", []],
      ["n", "", ["1"]],
    ],
  );
});

test("damaged files are refused or lose columns, and never hang", async () => {
  const good = file("snappy");
  await assert.rejects(shown(Buffer.from("hello".repeat(100))));
  await assert.rejects(shown(Buffer.from("PAR1")));
  await assert.rejects(shown(good.subarray(0, good.length / 2)));
  const footer = Buffer.from(good);
  footer.writeUInt32LE(0x7fffffff, good.length - 8);
  await assert.rejects(shown(footer));
  const huge = Buffer.from(good);
  huge.writeUInt32LE(50 << 20, good.length - 8); // a description of 50 MiB in a file of 1 GiB
  await assert.rejects(
    preview("x", 1 << 30, async () => ({
      status: 206,
      arrayBuffer: async () => huge.buffer.slice(huge.byteOffset, huge.byteOffset + huge.length),
    })),
  );
  for (let seed = 1; seed < 60; seed += 1) {
    const bytes = Buffer.from(good);
    for (let n = 0; n < 20; n += 1) bytes[(seed * 7919 + n * 104_729) % bytes.length] ^= 0xff;
    await shown(bytes).catch(() => {});
  }
});

test("an address that ignores ranges is not read", async () => {
  await assert.rejects(
    preview("x", 100, async () => ({ status: 200 })),
    /status 200/,
  );
});

test("cells are short texts", () => {
  assert.equal(cell(10n ** 20n), "100000000000000000000");
  assert.equal(cell({ a: 1n, b: [2n ** 60n] }), '{"a":1,"b":["1152921504606846976"]}');
  assert.equal(cell("x".repeat(1000)).length, 500);
});
