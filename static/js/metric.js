// The last value of a curve, as the server formats it: "0.4213", "1,705", "3e-4".
export function metric(value) {
  if (!Number.isFinite(value)) return "–";
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
  if (value && Math.abs(value) < 1e-3)
    return value
      .toExponential(3)
      .replace(/\.?0+e/, "e")
      .replace("e+", "e");
  return String(Number(value.toPrecision(4)));
}
