// What a submission would use: its amounts, its price and the quotas that it fills.
import { isEnglish, say } from "../words.js";

const titles = {
  org: say("Organization", { context: "whose limit" }),
  team: say("Team", { context: "whose limit" }),
  user: say("You", { context: "whose limit" }),
};
const counted = {
  cores: (n) => say("{n} cores", { context: "whose limit", n }),
  GPUs: (n) => say("{n} GPUs", { context: "whose limit", n }),
};
const size = (value) =>
  value < 2 ** 30
    ? `${Number((value / 2 ** 20).toFixed(1))} MiB`
    : `${Number((value / 2 ** 30).toFixed(1))} GiB`;
const format = (value, unit) =>
  unit === "bytes" ? size(value) : (counted[unit]?.(value) ?? `${value} ${unit}`);

export function showCost(box, entries, cost) {
  const hasType = entries.some((e) => e.resource.startsWith("gpu."));
  const asks = entries.filter((e) => e.resource !== "jobs" && !(hasType && e.resource === "gpu"));
  const amounts = asks.map((e) => (isEnglish ? e.text : format(e.ask, e.unit))).join(" · ");
  const tasks =
    asks[0]?.tasks > 1
      ? `${say("{n} tasks", { context: "whose limit", n: asks[0].tasks })} × `
      : "";
  const total = document.createElement("span");
  total.textContent = amounts && `${tasks}${amounts}`;
  const limits = entries.filter((e) => e.limit !== null).map(meter);
  // A job of any type takes one of a type that may have a limit, which is known when it is placed.
  const isOfAnyType = !hasType && asks.some((e) => e.resource === "gpu");
  if (amounts && !limits.length && !isOfAnyType)
    total.textContent += ` · ${say("no quota limit", { context: "whose limit" })}`;
  const sum = document.createElement("span");
  if (cost)
    sum.textContent = cost.most_text
      ? say("at most {most} ({hourly} an hour)", {
          most: cost.most_text,
          hourly: cost.hourly_text,
        })
      : say("{hourly} an hour", { context: "whose limit", hourly: cost.hourly_text });
  box.replaceChildren(total, ...(cost ? [sum] : []), ...limits);
}

function meter(entry) {
  const after = entry.used + entry.ask,
    part = document.createElement("span"),
    bar = document.createElement("progress");
  part.className = entry.fits ? "quota-after" : "quota-after bad";
  bar.max = entry.limit || 1;
  bar.value = Math.min(after, bar.max);
  bar.setAttribute("aria-hidden", "true");
  const words = {
    scope: titles[entry.scope] ?? entry.scope,
    after,
    limit: format(entry.limit, entry.unit),
  };
  if (entry.unit === "bytes") words.after = size(after);
  part.append(say("{scope}: {after} of {limit}", { context: "whose limit", ...words }), bar);
  part.title = say("{used} in use now; this job adds {ask}.", {
    used: format(entry.used, entry.unit),
    ask: format(entry.ask, entry.unit),
  });
  return part;
}
