// Pictures of charts and panels, and files that the page offers.
import { token } from "./colours.js";

// Prepare a canvas with a title; return its context.
export function sheetOf(canvas, width, height, ratio, title) {
  canvas.width = width;
  canvas.height = height;
  const paint = canvas.getContext("2d");
  paint.fillStyle = token("--panel");
  paint.fillRect(0, 0, width, height);
  paint.fillStyle = token("--text");
  paint.font = `${13 * ratio}px system-ui`;
  paint.fillText(title, 12 * ratio, 19 * ratio);
  return paint;
}

export function save(url, name) {
  const link = document.createElement("a");
  link.href = url;
  link.download = name.replace(/[^\w.-]+/g, "-");
  link.click();
  if (url.startsWith("blob:")) setTimeout(() => URL.revokeObjectURL(url), 1000);
}
