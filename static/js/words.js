// What the modules say, in the page's language: words/<language>.js, loaded by base.html before them, has the texts; English needs none.
const texts = globalThis.words ?? {};
const language = globalThis.document?.documentElement.lang || "en";

// The reader's own region of the page's language ("en-GB"), for dates and numbers.
export const locale =
  globalThis.navigator?.languages?.find((l) => l.split("-")[0] === language) ?? language;
export const isEnglish = language === "en";

// say: "{n} selected" with { n: 3 }; the English text is the key, and what is shown where there is no translation.
export function say(english, values = {}) {
  return (texts[english] ?? english).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

export const count = (n) => n.toLocaleString(locale);
