// Groups of lines in a log, between `::group::title` and `::endgroup::` as in GitHub Actions. A complete
// group is folded to its first line. Groups do not nest: a new one ends the one before.
const MARK = /^(?:::|##\[)(?:group(?:::|\])(.*)|endgroup(?:::|\]).*)$/;
export const FIRST_BYTES = [0x3a, 0x23]; // ":" and "#": only lines that start so can be marks

export class Groups {
  #all = []; // {start, end, title, isFolded}; `end` is null until it is complete
  #folded = null; // of these, with the hidden lines `before` each; null after a change
  #seen = -1;
  target = null; // the line that the reader went to; its group stays open

  // Read the next line. The reader sees no difference if `folds` is false.
  see(line, text, folds = true) {
    if (line <= this.#seen) return;
    this.#seen = line;
    const mark = text.match(MARK);
    if (!mark) return;
    const isStart = mark[1] !== undefined;
    this.#close(isStart ? line - 1 : line, folds);
    if (isStart) this.#all.push({ start: line, end: null, title: mark[1].trim(), isFolded: false });
  }

  #close(line, folds) {
    const last = this.#all.at(-1);
    if (!last || last.end !== null) return;
    last.end = line;
    last.isFolded =
      folds && line > last.start && !(last.start < this.target && this.target <= line);
    this.#folded = null;
  }

  headAt(line) {
    const found = this.#all[this.#before(this.#all, line + 1)];
    return found?.start === line ? found : undefined;
  }

  toggle(line) {
    const group = this.headAt(line);
    if (!group || group.end === null) return;
    group.isFolded = !group.isFolded;
    this.#folded = null;
  }

  // Unfold the group of a line that the reader goes to.
  open(line) {
    this.target = line;
    const group = this.#all[this.#before(this.#all, line)];
    if (!group?.isFolded || line > group.end) return;
    group.isFolded = false;
    this.#folded = null;
  }

  // Forget groups whose first line was dropped.
  forget(first) {
    if (!this.#all.length || this.#all[0].start >= first) return;
    this.#all = this.#all.filter((group) => group.start >= first);
    this.#folded = null;
  }

  get hidden() {
    const last = this.#index().at(-1);
    return last ? last.before + last.end - last.start : 0;
  }

  // Return the line at a place among the lines that are shown, which start with the line `first`.
  lineAt(place, first) {
    const folded = this.#index();
    let low = 0,
      high = folded.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (folded[middle].start - first - folded[middle].before < place) low = middle + 1;
      else high = middle;
    }
    const group = folded[low - 1];
    return first + place + (group ? group.before + group.end - group.start : 0);
  }

  // Return the place of a line, or of the first line of its folded group.
  placeOf(line, first) {
    const group = this.#index()[this.#before(this.#index(), line)];
    if (!group) return line - first;
    if (line <= group.end) return group.start - first - group.before;
    return line - first - group.before - (group.end - group.start);
  }

  #index() {
    if (this.#folded) return this.#folded;
    let before = 0;
    this.#folded = this.#all.filter((group) => group.isFolded);
    for (const group of this.#folded) {
      group.before = before;
      before += group.end - group.start;
    }
    return this.#folded;
  }

  // The index of the last group that starts before a line; -1 if there is none.
  #before(groups, line) {
    let low = 0,
      high = groups.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (groups[middle].start < line) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
