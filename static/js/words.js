// Translations of JavaScript texts. base.html loads words/<language>.js first; English needs none.
const texts = globalThis.words ?? {};
const language = globalThis.document?.documentElement.lang || "en";

// The user's regional variant of the page's language, such as "en-GB", for dates and numbers.
export const locale =
  globalThis.navigator?.languages?.find((l) => l.split("-")[0] === language) ?? language;
export const isEnglish = language === "en";

// Translate "{n} selected" with { n: 3 }. The English text is the key and the fallback. A short text
// has a context for translators, as its first value: { context: "state of a node" }.
export function say(english, { context = "", ...values } = {}) {
  const text = texts[`${context}\u0004${english}`] ?? texts[english] ?? english;
  return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

export const count = (n) => n.toLocaleString(locale);
