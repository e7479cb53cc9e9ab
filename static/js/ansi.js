// Convert text with ANSI colours to safe DOM nodes. Only SGR sequences are supported, others are
// dropped; text is never parsed as HTML.
const ESCAPE =
  /\x1b\[([0-9;:]*)m|\x1b\[[0-9;:?<>=]*[ -/]*[@-~]?|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\-_]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;
const KNOWN = new Set([1, 2, 3, 4, ...range(30, 37), ...range(90, 97)]);

function range(from, to) {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

// Return a line as a terminal shows it, with carriage returns applied.
export function settled(line) {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  return text.slice(text.lastIndexOf("\r") + 1);
}

export function plain(line) {
  return settled(line).replace(ESCAPE, "");
}

// Split a line into [{text, classes}].
export function parts(line) {
  const found = [];
  let classes = new Set(),
    last = 0;
  const text = settled(line);
  const push = (piece) =>
    piece && found.push({ text: piece, classes: [...classes].map((n) => `a${n}`).join(" ") });
  for (const match of text.matchAll(ESCAPE)) {
    push(text.slice(last, match.index));
    last = match.index + match[0].length;
    if (match[1] !== undefined) classes = turned(classes, match[1]);
  }
  push(text.slice(last));
  return found;
}

function turned(classes, codes) {
  const next = new Set(classes);
  const numbers = (codes || "0").split(/[;:]/).map(Number);
  for (let i = 0; i < numbers.length; i++) {
    const n = numbers[i];
    if (n === 38 || n === 48) {
      i += numbers[i + 1] === 5 ? 2 : 4;
      continue;
    } // 256 and true colours are not supported
    if (n === 0) next.clear();
    else if (n === 22) {
      next.delete(1);
      next.delete(2);
    } else if (n === 23 || n === 24) next.delete(n - 20);
    else if (n === 39) [...next].filter((c) => c >= 30).forEach((c) => next.delete(c));
    else if (KNOWN.has(n)) {
      if (n >= 30) [...next].filter((c) => c >= 30).forEach((c) => next.delete(c));
      next.add(n);
    }
  }
  return next;
}
