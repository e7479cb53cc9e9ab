// The GPU wall: what its rows mean, what passes the filters, and where the cells are.
import assert from "node:assert/strict";
import test from "node:test";

const { grouped, jobsOn, passing, readGrid } = await import("../../../static/js/gpu-grid/gpus.js");
const { Layout } = await import("../../../static/js/gpu-grid/layout.js");

const ANSWER = {
  states: ["ready", "drained", "down"],
  types: ["a100", "h100"],
  partitions: ["main"],
  clusters: [{ name: "big" }, { name: "local" }],
  pools: [{ name: "research", nodes: [[0, 1]] }],
  racks: [],
  nodes: [
    ["n0", 0, 1, 4, 0b011, [0], [0]],
    ["n1", 1, 0, 2, 0b01, [1], []],
    ["n2", 1, 2, 1, 1, [1], []],
    ["n3", 1, 0, 40, 2 ** 39, [1], []],
    ["cpu", 1, 0, 0, 0, [], []],
  ],
  use: [[80, 3], [], [], []],
  health: { 1: ["quarantined", "XID 79"] },
  reserved: { 0: 2, 3: 1 },
  jobs: {
    0: [
      [7, "train", [1], "atlas"],
      [8, "tune", null, "atlas"],
    ],
  },
};
const grid = readGrid(ANSWER);
const states = (node) => node.gpus.map(({ state }) => state);
const names = (nodes) => nodes.map(({ name }) => name);

test("rows of the answer become objects with a state for each GPU", () => {
  const [n0, n1, n2, n3] = grid.nodes;
  assert.deepEqual(states(n0), ["busy", "idle", "drained", "drained"]);
  assert.deepEqual(states(n1), ["unmeasured", "unhealthy"]);
  assert.deepEqual(states(n2), ["down"]);
  assert.deepEqual(states(n3).slice(37), ["free", "reserved", "unmeasured"]); // a drained node has none
  assert.equal(n0.cluster.name, "big");
  assert.deepEqual([n0.types, n0.partitions], [["a100"], ["main"]]);
  assert.deepEqual(n1.health, { state: "quarantined", why: "XID 79" });
  assert.deepEqual(
    jobsOn(n0, 1).map(({ number }) => number),
    [7],
  );
  assert.deepEqual(
    jobsOn(n0, 0).map(({ number }) => number),
    [8],
  );
});

test("filters narrow the nodes; an unknown choice is none", () => {
  assert.deepEqual(names(passing(grid, {})), ["n0", "n1", "n2", "n3"]);
  assert.deepEqual(names(passing(grid, { cluster: "big" })), ["n0"]);
  assert.deepEqual(names(passing(grid, { type: "h100", state: "free" })), ["n3"]);
  assert.deepEqual(names(passing(grid, { partition: "gone" })), ["n0", "n1", "n2", "n3"]);
});

test("groups keep their order, and the others come last", () => {
  const found = (by) =>
    grouped(grid, passing(grid, {}), by).map(({ title, nodes }) => [title, names(nodes)]);
  assert.deepEqual(found("pool"), [
    ["research", ["n0", "n1"]],
    ["no pool", ["n2", "n3"]],
  ]);
  assert.deepEqual(found("cluster"), [
    ["big", ["n0"]],
    ["local", ["n1", "n2", "n3"]],
  ]);
  assert.deepEqual(found(""), [["", ["n0", "n1", "n2", "n3"]]]);
});

test("a point in a cell finds its node and GPU, and arrows the nodes above and below", () => {
  const layout = new Layout(grouped(grid, passing(grid, {}), "cluster"));
  layout.place(300);
  layout.nodes.forEach((_, index) => {
    const { x, y } = layout.cornerOf(index);
    assert.deepEqual(layout.find(x + 1, y + 1), { index, gpu: 0 });
    assert.deepEqual(layout.find(x + layout.cell + 1, y + layout.cell + 1), { index, gpu: 5 });
  });
  assert.equal(layout.find(-5, -5), null);
  const tall = new Layout([{ title: "", nodes: grid.nodes.slice(0, 3) }]);
  tall.place(tall.wide + 1);
  assert.equal(tall.beside(0, 1), 1);
  assert.equal(tall.beside(1, -1), 0);
  assert.equal(tall.beside(0, -1), 0);
});
