// The view of a set of charts: smoothing, axis, logarithm, search, hidden runs. It lives in the URL.

export const DEFAULTS = { smooth: 0, axis: "step", log: false, metric: "", hide: "" };

// `axis` is the x axis by default.
export function viewOf(search, standard = DEFAULTS.axis) {
  const query = new URLSearchParams(search);
  const smooth = Number(query.get("smooth"));
  const axis = query.get("axis");
  return {
    smooth: smooth > 0 && smooth < 1 ? smooth : 0,
    axis: ["step", "time", "relative"].includes(axis) ? axis : standard,
    log: query.get("log") === "1",
    metric: query.get("metric") ?? "",
    hide: query.get("hide") ?? "",
  };
}

// The URL with this view; parameters at their default are left out, others are kept.
export function urlOf(href, view, axis = DEFAULTS.axis) {
  const url = new URL(href);
  for (const [name, value] of Object.entries(view)) {
    if (value === (name === "axis" ? axis : DEFAULTS[name])) url.searchParams.delete(name);
    else url.searchParams.set(name, value === true ? "1" : String(value));
  }
  return url;
}
