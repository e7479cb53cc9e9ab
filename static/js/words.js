// Translations of JavaScript texts. base.html loads words/<language>.js first; English needs none.
const texts = globalThis.words ?? {};
const language = globalThis.document?.documentElement.lang || "en";

// The user's regional variant of the page's language, such as "en-GB", for dates and numbers.
export const locale =
  globalThis.navigator?.languages?.find((l) => l.split("-")[0] === language) ?? language;
export const isEnglish = language === "en";

// Translate "{n} selected" with { n: 3 }. The English text is the key and the fallback.
export function say(english, values = {}) {
  return (texts[english] ?? english).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

export const count = (n) => n.toLocaleString(locale);
