// What the portal says of all GPUs, as objects; which pass the filters, and in which groups. Pure.
import { gpuName } from "../gpu-names.js";
import { say } from "../words.js";

const IDLE = 10; // percent of use below which an allocated GPU counts as idle
const BITS = 31; // of a number that bit operators take

export const STATES = [
  "free",
  "reserved",
  "busy",
  "idle",
  "unmeasured",
  "drained",
  "down",
  "unhealthy",
];
const ALLOCATED = new Set(["busy", "idle", "unmeasured"]);
export const isAllocated = (state) => ALLOCATED.has(state);

// The rows of the answer are short lists (`monitoring.gpu_grid`); nothing else knows their columns.
export function readGrid(answer) {
  const nodes = answer.nodes.map(
    ([name, cluster, state, gpus, allocated, types, partitions], index) => {
      const health = answer.health?.[index];
      const node = {
        index,
        name,
        cluster: answer.clusters[cluster],
        state: answer.states[state],
        types: types.map((type) => answer.types[type]),
        partitions: partitions.map((partition) => answer.partitions[partition]),
        health: health ? { state: health[0], why: health[1] } : null,
        jobs: (answer.jobs[index] ?? []).map(([number, title, on, org]) => ({
          number,
          title,
          gpus: on,
          org,
        })),
      };
      node.gpus = Array.from({ length: gpus }, (_, gpu) => {
        const use = answer.use[index][gpu] ?? -1;
        const heat = answer.heat?.[index]?.[gpu] ?? null;
        return { use, heat, state: stateOf(node, isSet(allocated, gpu), use) };
      });
      reserve(node.gpus, answer.reserved?.[index] ?? 0);
      return node;
    },
  );
  return { ...answer, nodes };
}

// The last free GPUs of a node are those that are kept for single teams.
function reserve(gpus, n) {
  const free = gpus.filter(({ state }) => state === "free");
  for (const gpu of n ? free.slice(-n) : []) gpu.state = "reserved";
}

const isSet = (bits, n) => Boolean(n < BITS ? (bits >> n) & 1 : Math.floor(bits / 2 ** n) % 2);

// Unused GPUs of a node out of service show the node's state.
function stateOf(node, isUsed, use) {
  if (node.state === "down") return "down";
  if (isUsed) return use < 0 ? "unmeasured" : use < IDLE ? "idle" : "busy";
  if (node.health && node.health.state !== "warning") return "unhealthy";
  return node.state === "drained" ? "drained" : "free";
}

// `by` has the chosen cluster, type, partition and state; "" is all.
export function passing(grid, by) {
  const known = (names, name) => (names.includes(name) ? name : "");
  const cluster = known(
      grid.clusters.map(({ name }) => name),
      by.cluster,
    ),
    type = known(grid.types, by.type),
    partition = known(grid.partitions, by.partition),
    state = known(STATES, by.state);
  return grid.nodes.filter(
    (node) =>
      node.gpus.length &&
      (!cluster || node.cluster.name === cluster) &&
      (!type || node.types.includes(type)) &&
      (!partition || node.partitions.includes(partition)) &&
      (!state || node.gpus.some((gpu) => gpu.state === state)),
  );
}

// The nodes in the chosen groups, in the order of the groups; a node may be in several pools.
export function grouped(grid, nodes, by) {
  if (!by || by === "none") return [{ title: "", nodes }];
  const isIn = ({ nodes: ranges }, { index }) =>
    ranges.some(([first, last]) => first <= index && index <= last);
  const groups = {
    pool: () => grid.pools.map((pool) => [pool.name, (node) => isIn(pool, node)]),
    rack: () => grid.racks.map((rack) => [rack.name, (node) => isIn(rack, node)]),
    model: () => grid.types.map((type) => [gpuName(type), (node) => node.types.includes(type)]),
    cluster: () => grid.clusters.map((one) => [one.name, (node) => node.cluster === one]),
  }[by]();
  const found = groups.map(([title, fits]) => ({ title, nodes: nodes.filter(fits) }));
  const inside = new Set(found.flatMap((group) => group.nodes));
  const others = nodes.filter((one) => !inside.has(one));
  if (others.length)
    found.push({
      title:
        by === "pool"
          ? say("no pool", { context: "way to group" })
          : say("no rack", { context: "way to group" }),
      nodes: others,
    });
  return found.filter((group) => group.nodes.length);
}

// The names of the pools of a node.
export const poolsOf = (grid, { index }) =>
  grid.pools
    .filter(({ nodes }) => nodes.some(([first, last]) => first <= index && index <= last))
    .map(({ name }) => name);

// The jobs of a GPU; where the scheduler does not tell which it has, those of the node.
export function jobsOn({ jobs }, gpu) {
  const own = jobs.filter(({ gpus }) => gpus?.includes(gpu));
  return own.length ? own : jobs.filter(({ gpus }) => !gpus);
}
