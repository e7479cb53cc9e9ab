// What the chosen team may use, and what a share of a GPU does not isolate.
import { gpuName } from "../gpu-names.js";
import { say } from "../words.js";

export function createTeamOptions(root, team, onSecrets) {
  const type = root.querySelector("[data-field='accelerators.type']"),
    pool = root.querySelector("[data-field='policy.pool']"),
    note = root.querySelector("[data-share-note]");
  let shares = new Map();

  async function load() {
    const chosen = team?.value;
    if (!chosen) return;
    const response = await fetch(
      `${root.dataset.options}?team=${encodeURIComponent(chosen)}`,
    ).catch(() => null);
    if (!response?.ok || team.value !== chosen) return;
    const { gpu_types: types, pools, secrets } = await response.json();
    offer(type, [
      ["", say("Any type", { context: "text, new-job" })],
      ...types.map((t) => [
        t.type,
        say("{type}: {n} free", { context: "text, new-job", type: gpuName(t.type), n: t.free }),
      ]),
    ]);
    shares = new Map(types.map((t) => [t.type, t.note]));
    if (pool)
      offer(pool, [
        ["", say("Muster chooses", { context: "text, new-job" })],
        ...pools.map((p) => [p, p]),
      ]);
    onSecrets(secrets);
    noteShare();
  }

  function noteShare() {
    note.textContent = shares.get(type.value) ?? "";
    note.hidden = !note.textContent;
  }
  root.addEventListener("input", noteShare);
  return { load };
}

function offer(select, options) {
  select.replaceChildren(...options.map(([value, text]) => new Option(text, value)));
}
