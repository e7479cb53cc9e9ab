// Choices by purpose (<c-presets>): one fills the fields of its form, and changing such a field makes it a custom one.
document.querySelectorAll("form[data-presets]").forEach((form) => {
  const presets = [...form.querySelectorAll("[data-sets]")];
  const sets = (preset) => JSON.parse(preset.dataset.sets);
  const names = new Set(presets.flatMap((preset) => Object.keys(sets(preset))));

  function apply(preset, isChosen = false) {
    for (const place of form.querySelectorAll("[data-only]"))
      place.hidden = place.dataset.only !== preset.value;
    for (const [name, value] of Object.entries(sets(preset)))
      for (const field of form.querySelectorAll(`[name="${CSS.escape(name)}"]`))
        if (field.type === "checkbox")
          field.checked = !field.disabled && value.includes(field.value);
        else field.value = value;
    const fold = form.querySelector("details:has([name])");
    if (isChosen && !preset.value && fold) fold.open = true;
  }

  form.addEventListener("change", ({ target }) => {
    if (target.matches("[data-sets]")) apply(target, true);
    else if (names.has(target.name)) {
      const own = presets.find((preset) => preset.value === "");
      own.checked = true;
      apply(own);
    }
  });
  const chosen = presets.find((preset) => preset.checked);
  if (chosen) apply(chosen);
});
