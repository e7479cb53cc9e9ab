// Names offered while one types: experiments of the team, datasets with their tags, workspaces.

export function createSuggestions(root, team) {
  const addresses = root.dataset;
  const experiment = root.querySelector("[data-field=experiment]");
  const datasets = root.querySelector("#datasets"),
    workspaces = root.querySelector("#workspaces");

  // Ask and offer the names, unless the field or the team has changed meanwhile.
  async function offer(list, field, url, named = ({ name }) => name) {
    const typed = field.value,
      whose = team?.value;
    const response = await fetch(url).catch(() => null);
    if (!response?.ok || field.value !== typed || team?.value !== whose) return;
    const { items } = await response.json();
    list.replaceChildren(...items.map((item) => new Option("", named(item))));
  }

  const search = (query) => `?${new URLSearchParams(query)}`;

  function suggestExperiments() {
    const query = { team: team?.value ?? "", q: experiment.value, limit: 20 };
    offer(experiment.list, experiment, addresses.experiments + search(query));
  }

  // The tags and versions of a dataset once its name is typed
  function suggestDatasets(field) {
    const [name, at] = field.value.split(/(@)/);
    if (!at) return offer(datasets, field, addresses.datasets + search({ q: field.value }));
    const refs = `${addresses.datasets}/${encodeURIComponent(name)}/refs`;
    return offer(datasets, field, refs, (item) => `${name}@${item.name}`);
  }

  const suggestWorkspaces = (field) =>
    offer(workspaces, field, addresses.workspaces + search({ q: field.value }));

  for (const event of ["focus", "input"]) experiment.addEventListener(event, suggestExperiments);
  for (const [pairs, suggest] of [
    ["inputs", suggestDatasets],
    ["workspaces", suggestWorkspaces],
  ])
    for (const event of ["focusin", "input"])
      root
        .querySelector(`[data-pairs=${pairs}]`)
        .addEventListener(
          event,
          ({ target }) => target.dataset.part === "value" && suggest(target),
        );
}
