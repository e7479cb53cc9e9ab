// A short name follows from the name (data-names="FIELD") until somebody types one.
for (const name of document.querySelectorAll("input[data-names]")) {
  const slug = name.form.elements[name.dataset.names];
  let isTyped = Boolean(slug.value);
  slug.addEventListener("input", () => {
    isTyped = Boolean(slug.value);
  });
  name.addEventListener("input", () => {
    if (isTyped) return;
    slug.value = shortName(name.value, slug.maxLength);
  });
}

export function shortName(text, longest = 40) {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const words = plain.replace(/[^a-z0-9]+/g, "-").replace(/^[^a-z]+/, "");
  return words.slice(0, longest).replace(/-+$/, "");
}
