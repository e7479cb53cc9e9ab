// Lines of a log, stored as the received byte chunks; a line is decoded only to show or search it.
import { say } from "./words.js";

export const MOST = 96 << 20; // bytes in memory; older ones are dropped and can be downloaded

const LONG = 20000; // maximum bytes decoded per line

export class Lines {
  constructor(most = MOST) {
    this.most = most;
    this.chunks = []; // {start, data}
    this.starts = [0]; // offset of each line; the last one may still grow
    this.times = [[0, 0]]; // [offset, ms], ascending
    this.ends = new Map(); // ends of lines that were cut by a gap
    this.first = 0; // lines before this one were dropped
    this.end = 0;
    this.decoder = new TextDecoder();
  }

  get count() {
    return this.starts.length - (this.starts.at(-1) === this.end ? 1 : 0);
  }

  // The last line may still grow.
  get isLastOpen() {
    return this.starts.at(-1) !== this.end;
  }

  push(offset, atMs, data) {
    if (offset + data.length <= this.end) return;
    if (offset > this.end) this.#skip(offset); // a gap, reported by the server
    const fresh = offset < this.end ? data.subarray(this.end - offset) : data;
    if (atMs && atMs > this.times.at(-1)[1]) this.times.push([this.end, atMs]);
    this.chunks.push({ start: this.end, data: fresh });
    for (let at = fresh.indexOf(10); at >= 0; at = fresh.indexOf(10, at + 1))
      this.starts.push(this.end + at + 1);
    this.end += fresh.length;
    this.#letGo();
  }

  // A gap ends the current line and starts a new one.
  #skip(offset) {
    if (this.starts.at(-1) === this.end) this.starts.pop();
    if (this.starts.length) this.ends.set(this.starts.length - 1, this.end);
    this.starts.push(offset);
    this.end = offset;
  }

  #letGo() {
    let kept = this.end - (this.chunks[0]?.start ?? 0);
    while (kept > this.most && this.chunks.length > 1) {
      const gone = this.chunks.shift();
      kept -= gone.data.length;
      const edge = gone.start + gone.data.length;
      while (this.starts[this.first] < edge && this.first < this.starts.length - 1) this.first++;
    }
  }

  text(line) {
    const start = this.starts[line];
    const stop =
      this.ends.get(line) ?? (line + 1 < this.starts.length ? this.starts[line + 1] : this.end);
    if (stop - start <= LONG) return this.#decode(start, stop).replace(/\n$/, "");
    const last = this.#decode(stop - LONG, stop).replace(/\n$/, ""),
      overwritten = last.replace(/\r+$/, "").lastIndexOf("\r");
    if (overwritten >= 0) return last.slice(overwritten + 1); // a progress bar: its latest state
    return `${this.#decode(start, start + LONG)} … ${say("(a very long line; download the log to see all of it)")}`;
  }

  firstByte(line) {
    const start = this.starts[line],
      chunk = this.chunks[this.#chunkAt(start)];
    return chunk?.data[start - chunk.start];
  }

  timeOf(line) {
    const offset = this.starts[line];
    let low = 0,
      high = this.times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle][0] <= offset) low = middle;
      else high = middle - 1;
    }
    return this.times[low][1];
  }

  #decode(start, stop) {
    const bytes = new Uint8Array(Math.max(stop - start, 0));
    for (let i = this.#chunkAt(start); i < this.chunks.length && this.chunks[i].start < stop; i++) {
      const chunk = this.chunks[i];
      const from = Math.max(start - chunk.start, 0);
      const piece = chunk.data.subarray(from, Math.min(stop - chunk.start, chunk.data.length));
      bytes.set(piece, chunk.start + from - start);
    }
    return this.decoder.decode(bytes);
  }

  #chunkAt(offset) {
    let low = 0,
      high = this.chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.chunks[middle].start <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
