// Colours of values: a ramp for numbers, the colours of curves for texts.
import { colourOf } from "./colours.js";
import { placesOf } from "./places.js";

// The function that returns the CSS colour of a value of an axis.
export function rampOf(axis) {
  const places = placesOf(axis);
  if (places.isText) {
    const names = places.ticks.map((tick) => tick.text);
    return (value) =>
      value == null ? "var(--text-3)" : `var(${colourOf(names.indexOf(String(value)))})`;
  }
  return (value) => {
    const at = places.at(value);
    return at == null
      ? "var(--text-3)"
      : `color-mix(in oklch, var(--ramp-high) ${Math.round(at * 100)}%, var(--ramp-low))`;
  };
}
