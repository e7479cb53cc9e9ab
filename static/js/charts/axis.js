// Time axis of charts: its range and tick labels, in the same format in every language (13:05, 11-22).

// Pad a curve with a single point: for one, the library would span years, or 0 to twice its step.
// `xs` are the places of the points.
export function around(low, high, byStep, xs = []) {
  if (xs.length === 1) low = high = xs[0];
  if (low == null || high == null || low !== high) return [low, high];
  const room = byStep ? 1 : 30;
  return [low - room, low + room];
}

const two = (n) => String(n).padStart(2, "0");
const day = (at) => `${two(at.getMonth() + 1)}-${two(at.getDate())}`;
const time = (at, withSeconds) =>
  `${two(at.getHours())}:${two(at.getMinutes())}${withSeconds ? `:${two(at.getSeconds())}` : ""}`;

// ticks and step are in seconds. The date is shown below the first tick and where it changes.
export function clock(ticks, step) {
  let before = "";
  return ticks.map((t) => {
    const at = new Date(t * 1000),
      today = day(at),
      isNew = today !== before;
    before = today;
    return step >= 86400 ? today : time(at, step < 60) + (isNew ? `\n${today}` : "");
  });
}

// The day of a bar, which begins at midnight in UTC.
export const dayOf = (t) => new Date(t * 1000).toISOString().slice(5, 10);

export const moment = (t) => {
  const at = new Date(t * 1000);
  return `${day(at)} ${time(at, true)}`;
};
