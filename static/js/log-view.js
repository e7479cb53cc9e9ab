// Virtualized log view: only visible lines are in the DOM. Handles ten thousand lines per second.
import { live } from "./live.js";
import { Lines } from "./lines.js";
import { parts, plain } from "./ansi.js";
import { rankOf, rootError } from "./log-errors.js";
import { FIRST_BYTES, Groups } from "./log-groups.js";
import { count as number, isEnglish, locale, say } from "./words.js";

const HEIGHT = 18,
  SPARE = 30,
  WRAPPED = 400;
const TALLEST = 8_000_000; // px; browsers limit element heights, so longer logs scroll by a scale
const BAD = /\b(error|fatal|critical|traceback|exception)\b/i,
  WARN = /\bwarn(ing)?\b/i;

class LogView {
  constructor(root) {
    this.root = root;
    this.lines = new Lines();
    this.groups = new Groups();
    this.view = root.querySelector(".log-view");
    this.pad = root.querySelector(".pad");
    this.foot = root.querySelector("[data-certificate]");
    this.follow = root.dataset.live === "true" && !/^#L\d+$/.test(location.hash);
    this.hits = [];
    this.hit = -1;
    this.gaps = [];
    this.only = null; // line numbers of the chosen rank; null: all lines
    this.ranks = new Map(); // rank: its line numbers
    this.scanned = 0;
    this.due = false;
    this.top = 0; // px of the log above the viewport; divided by the scale for the scroll bar
    this.scale = 1;
    this.#want();
    window.addEventListener("hashchange", () => {
      this.#want();
      this.draw();
    });
    this.view.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.view.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    new ResizeObserver(() => this.draw()).observe(this.view);
    root.addEventListener("click", (event) => this.#click(event));
    const search = root.querySelector("input[type=search]");
    search.addEventListener("input", () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.#search(search.value), 120);
    });
    search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        this.#jump(event.shiftKey ? -1 : 1);
      }
    });
    root.querySelector("[data-rank]")?.addEventListener("change", (event) => {
      this.only = this.ranks.get(event.target.value) ?? null;
      this.anchor = null;
      this.#scrollTo(0);
      this.draw();
    });
    for (const name of ["wrap", "times"])
      if (localStorage.getItem(`log-${name}`) === "1") this.#toggle(name, true);
    this.#show();
    if ("failed" in root.dataset) this.findError();
    this.stop = live().subscribe(
      `log:${root.dataset.key}`,
      {
        bytes: (offset, at, data) => {
          this.lines.push(offset, at, data);
          this.#more();
        },
        gap: (start, end, why) => {
          this.gaps.push([start, end, why]);
          this.#more();
        },
        end: (certificate) => this.#ended(certificate),
        error: (message) => {
          this.foot.textContent = message;
        },
      },
      0,
    );
  }

  #more() {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => {
      this.due = false;
      this.draw();
      if (this.query) this.#searchNew();
      this.#scan();
      this.root.dispatchEvent(new CustomEvent("loglines"));
    });
  }

  get hasRanks() {
    return "ranks" in this.root.dataset;
  }

  // Read each complete line once, in slices: to fold its group, to offer its rank, and to find why the
  // job failed.
  #scan() {
    if (this.scanning) return;
    const until = performance.now() + 10,
      { lines, ranks, groups } = this;
    const isRead = this.hasRanks || this.why,
      top = this.#nth(Math.floor(this.top / HEIGHT)),
      hidden = groups.hidden;
    const count = lines.count - (this.isEnded || !lines.isLastOpen ? 0 : 1);
    while (this.scanned < count && performance.now() < until) {
      const mayMark = FIRST_BYTES.includes(lines.firstByte(this.scanned)),
        text = isRead || mayMark ? plain(lines.text(this.scanned)) : "",
        rank = this.hasRanks ? rankOf(text) : null;
      this.why?.see(this.scanned, text);
      groups.see(this.scanned, text, this.follow || this.root.dataset.live !== "true");
      if (rank !== null) {
        if (!ranks.has(rank)) ranks.set(rank, []);
        ranks.get(rank).push(this.scanned);
      }
      this.scanned++;
    }
    if (groups.hidden !== hidden) this.#keep(top);
    if (this.scanned < count) {
      this.scanning = true;
      setTimeout(() => {
        this.scanning = false;
        this.#scan();
      });
    } else if (this.isEnded && this.why) this.#foundError();
    if (ranks.size > 1) this.#offerRanks();
  }

  // Keep a line at the top while lines above it fold or unfold.
  #keep(line) {
    if (!this.only && !this.isWrapped && !this.follow) {
      this.#measure(this.#shownCount() * HEIGHT);
      this.#scrollTo(this.#placeOf(line) * HEIGHT + (this.top % HEIGHT));
    }
    this.draw();
  }

  #offerRanks() {
    const select = this.root.querySelector("[data-rank]");
    if (!select || select.options.length === this.ranks.size + 1) return;
    const chosen = select.value;
    const names = [...this.ranks.keys()].sort((a, b) => a - b);
    select.replaceChildren(
      select.options[0],
      ...names.map((name) => new Option(say("Rank {n}", { context: "choice", n: name }), name)),
    );
    select.value = chosen;
    select.hidden = false;
  }

  // Look for the reason of the failure once the log has ended, and open the log there.
  findError() {
    if (this.why) return;
    this.why = rootError(this.root.dataset.evidence);
    this.scanned = 0;
    this.ranks.clear();
    if (this.isEnded) this.#scan();
  }

  #foundError() {
    const line = this.why.line;
    this.why = null;
    if (line !== null) {
      this.errorLine = line;
      this.root.querySelector("[data-do=error]").hidden = false;
    }
    if (this.wanted === null && !/^#L\d+$/.test(location.hash) && !this.isMoved) {
      this.follow = false;
      this.#show();
      this.wanted = line ?? Math.max(this.lines.count - 1, 0); // without an error, the last words
    }
    this.draw();
  }

  draw() {
    const { lines, view } = this;
    const count = lines.count;
    if (this.only?.[0] < lines.first) this.only = this.only.filter((line) => line >= lines.first);
    this.groups.forget(lines.first);
    const shown = this.#shownCount();
    this.root.querySelector("[data-empty]").hidden = shown > 0;
    this.root.querySelector("[data-count]").textContent = [
      say("{n} lines, {size}", {
        context: "text, log-view",
        n: number(count),
        size: size(lines.end),
      }),
      ...(lines.first
        ? [say("(the first {n} are in the download)", { n: number(lines.first) })]
        : []),
      ...("deleted" in this.root.dataset ? [] : this.gaps).map(
        ([start, end, why]) =>
          `· ${say("{size} missing: {why}", { context: "text, log-view", size: size(end - start), why })}`,
      ),
    ].join(" ");
    if (this.isWrapped) {
      this.#drawWrapped(shown);
      return;
    }
    this.#measure(shown * HEIGHT);
    if (this.follow) this.#scrollTo(Infinity);
    else if (this.wanted !== null && this.wanted < count && view.clientHeight)
      this.goTo(this.wanted);
    const top = Math.max(Math.floor(this.top / HEIGHT) - SPARE, 0);
    const last = Math.min(top + Math.ceil(view.clientHeight / HEIGHT) + 2 * SPARE, shown);
    const shift = this.scale > 1 ? view.scrollTop - this.top : 0;
    const nodes = [];
    for (let i = top; i < last; i++) nodes.push(this.#line(this.#nth(i), i * HEIGHT + shift));
    this.pad.replaceChildren(...nodes);
  }

  // Lines of one rank are shown without groups.
  #shownCount() {
    return this.only?.length ?? this.lines.count - this.lines.first - this.groups.hidden;
  }

  // The number of the line that is shown at a place, and the reverse.
  #nth(place) {
    return this.only ? this.only[place] : this.groups.lineAt(place, this.lines.first);
  }

  #placeOf(line) {
    if (!this.only) return this.groups.placeOf(line, this.lines.first);
    const place = this.only.findIndex((one) => one >= line);
    return place < 0 ? this.only.length - 1 : place;
  }

  #measure(full) {
    const height = Math.min(full, TALLEST),
      seen = this.view.clientHeight;
    if (this.pad.style.height !== `${height}px`) this.pad.style.height = `${height}px`;
    this.deepest = Math.max(full - seen, 0);
    this.scale = full > TALLEST ? this.deepest / (TALLEST - seen) : 1;
    if (this.scale > 1 && !this.follow) this.#scrollTo(this.top); // the scale grew with the log; keep the lines in place
  }

  #scrollTo(top) {
    this.top = Math.min(Math.max(top, 0), this.deepest);
    this.view.scrollTop = this.top / this.scale;
    this.placed = this.view.scrollTop;
  }

  // Scroll by lines: with the scale, the wheel would skip lines.
  #wheel(event) {
    if (this.scale <= 1 || this.isWrapped || event.ctrlKey || !event.deltaY) return;
    event.preventDefault();
    this.#scrollTo(this.top + event.deltaY * (event.deltaMode === 1 ? HEIGHT : 1));
    if (this.follow && this.top < this.deepest - HEIGHT) {
      this.follow = false;
      this.#show();
    }
    this.draw();
  }

  // Wait for the line in the URL.
  #want() {
    const line = location.hash.match(/^#L(\d+)$/);
    this.wanted = line ? Number(line[1]) - 1 : null;
    if (line) {
      this.follow = false;
      this.#show();
    }
  }

  #drawWrapped(shown) {
    const { lines, view, pad } = this;
    if (this.wanted !== null && this.wanted < lines.count && view.clientHeight) {
      this.goTo(this.wanted);
      return;
    }
    const from = this.follow
      ? Math.max(shown - WRAPPED, 0)
      : Math.max(Math.min(this.anchor ?? shown - WRAPPED, shown - WRAPPED), 0);
    this.anchor = from;
    const nodes = [];
    if (from > 0)
      nodes.push(more("earlier", say("{n} earlier lines", { context: "button", n: number(from) })));
    for (let i = from; i < Math.min(from + WRAPPED, shown); i++)
      nodes.push(this.#line(this.#nth(i), null));
    if (from + WRAPPED < shown)
      nodes.push(
        more(
          "later",
          say("{n} later lines", { context: "button", n: number(shown - from - WRAPPED) }),
        ),
      );
    pad.style.height = "auto";
    pad.replaceChildren(...nodes);
    if (this.follow) view.scrollTop = view.scrollHeight;
  }

  #line(number, top) {
    const raw = this.lines.text(number);
    const row = document.createElement("div");
    row.className = `log-line${BAD.test(raw) ? " err" : WARN.test(raw) ? " warn" : ""}${location.hash === `#L${number + 1}` ? " is-target" : ""}${number === this.errorLine ? " is-reason" : ""}`;
    if (top !== null) row.style.top = `${top}px`;
    const link = document.createElement("a");
    link.href = `#L${number + 1}`;
    link.textContent = number + 1;
    link.title = say("Copy a link to this line");
    row.append(link);
    if (this.hasTimes) {
      const at = document.createElement("time"),
        ms = this.lines.timeOf(number);
      at.textContent = ms ? new Date(ms).toLocaleTimeString(locale, { hour12: false }) : "";
      if (ms) at.title = new Date(ms).toLocaleString(locale);
      row.append(at);
    }
    const body = document.createElement("span");
    body.className = "t";
    const group = this.only ? undefined : this.groups.headAt(number);
    if (group) body.append(folder(group));
    else if (this.query && plain(raw).toLowerCase().includes(this.query))
      this.#marked(body, plain(raw), number);
    else
      for (const part of parts(raw)) {
        const piece = document.createElement("span");
        if (part.classes) piece.className = part.classes;
        piece.textContent = part.text;
        body.append(piece);
      }
    row.append(body);
    return row;
  }

  #marked(body, text, number) {
    const lower = text.toLowerCase();
    let at = 0;
    for (let hit = lower.indexOf(this.query); hit >= 0; hit = lower.indexOf(this.query, at)) {
      const mark = document.createElement("mark");
      mark.textContent = text.slice(hit, hit + this.query.length);
      if (this.hits[this.hit] === number) mark.className = "is-now";
      body.append(text.slice(at, hit), mark);
      at = hit + this.query.length;
    }
    body.append(text.slice(at));
  }

  #search(text) {
    this.query = text.toLowerCase();
    this.hits = [];
    this.hit = -1;
    this.searched = this.lines.first;
    this.searching = (this.searching ?? 0) + 1;
    this.root.querySelector("[data-hits]").textContent = "";
    if (this.query) this.#searchNew(true);
    this.draw();
  }

  // Search in slices, so that a million lines do not block the page.
  #searchNew(jump = false) {
    const run = this.searching,
      until = performance.now() + 12;
    const count = this.lines.count - (this.isEnded || !this.lines.isLastOpen ? 0 : 1); // search only complete lines
    while (this.searched < count && performance.now() < until) {
      for (let n = 0; n < 500 && this.searched < count; n++, this.searched++)
        if (plain(this.lines.text(this.searched)).toLowerCase().includes(this.query))
          this.hits.push(this.searched);
    }
    const done = this.searched >= count;
    this.#tellHits(done);
    if (jump && this.hit < 0 && this.hits.length) {
      this.#jump(1);
      jump = false;
    }
    if (!done) setTimeout(() => run === this.searching && this.#searchNew(jump));
  }

  #tellHits(done) {
    const all = `${number(this.hits.length)}${done ? "" : " …"}`;
    const told =
      this.hit >= 0
        ? say("{n} of {all}", { context: "text, log-view", n: number(this.hit + 1), all })
        : all;
    this.root.querySelector("[data-hits]").textContent = this.query ? told : "";
  }

  #jump(step) {
    if (!this.hits.length) return;
    this.hit = (this.hit + step + this.hits.length) % this.hits.length;
    this.follow = false;
    this.goTo(this.hits[this.hit]);
    this.#tellHits(this.searched >= this.lines.count);
    this.#show();
  }

  goTo(number) {
    this.wanted = null;
    this.groups.open(number);
    const at = this.#placeOf(number);
    if (this.isWrapped) {
      this.anchor = Math.max(at - 20, 0);
      this.draw();
      this.pad.querySelector(`a[href="#L${number + 1}"]`)?.scrollIntoView({ block: "center" });
    } else {
      this.#measure(this.#shownCount() * HEIGHT);
      this.#scrollTo(at * HEIGHT - this.view.clientHeight / 2);
      this.draw();
    }
  }

  #scrolled() {
    if (this.view.clientHeight && Math.abs(this.view.scrollTop - (this.placed ?? 0)) >= 1)
      this.isMoved = true; // by the reader
    if (this.isWrapped) {
      const low = this.view.scrollHeight - this.view.scrollTop - this.view.clientHeight < 4;
      if (!low && this.follow) {
        this.follow = false;
        this.#show();
      }
      return;
    }
    if (Math.abs(this.view.scrollTop - this.placed) >= 1 || this.scale <= 1)
      this.top = this.view.scrollTop * this.scale;
    this.placed = this.view.scrollTop;
    const atEnd = this.top >= this.deepest - HEIGHT;
    if (this.follow && !atEnd) {
      this.follow = false;
      this.#show();
    }
    this.draw();
  }

  #click(event) {
    const button = event.target.closest("[data-do]");
    const line = event.target.closest(".log-line > a");
    if (line) {
      const url = new URL(location);
      url.searchParams.set("tab", "logs");
      url.hash = line.hash;
      navigator.clipboard?.writeText(url.href).then(
        () => this.#tell(say("Link to line {n} copied", { n: line.textContent })),
        () => {},
      );
      setTimeout(() => this.draw());
      return;
    }
    if (!button) return;
    const what = button.dataset.do;
    if (what === "follow") {
      this.follow = !this.follow;
      this.#show();
      this.draw();
    } else if (what === "wrap" || what === "times") this.#toggle(what);
    else if (what === "fold") {
      this.follow = false;
      this.groups.toggle(Number(button.dataset.line));
      this.draw();
      this.pad
        .querySelector(`[data-line="${button.dataset.line}"]`)
        ?.focus({ preventScroll: true });
      this.#show();
    } else if (what === "error") {
      this.follow = false;
      if (this.only && !this.only.includes(this.errorLine)) this.#showAllRanks();
      this.#show();
      this.goTo(this.errorLine);
      this.view.focus({ preventScroll: true });
    } else if (what === "next") this.#jump(1);
    else if (what === "previous") this.#jump(-1);
    else if (what === "earlier" || what === "later") {
      this.follow = false;
      this.anchor += what === "earlier" ? -WRAPPED / 2 : WRAPPED / 2;
      this.draw();
      this.#show();
    }
  }

  #showAllRanks() {
    this.only = null;
    this.root.querySelector("[data-rank]").value = "";
  }

  #tell(text) {
    const note = this.root.querySelector("[data-copied]");
    note.textContent = text;
    clearTimeout(this.telling);
    this.telling = setTimeout(() => (note.textContent = ""), 2500);
  }

  #toggle(name, on) {
    const flag = name === "wrap" ? "isWrapped" : "hasTimes";
    this[flag] = on ?? !this[flag];
    this.view.classList.toggle(name, this[flag]);
    localStorage.setItem(`log-${name}`, this[flag] ? "1" : "0");
    this.#show();
    this.draw();
  }

  #show() {
    const press = (name, on) =>
      this.root
        .querySelector(`[data-do=${name}]`)
        ?.setAttribute("aria-pressed", String(Boolean(on)));
    press("follow", this.follow);
    press("wrap", this.isWrapped);
    press("times", this.hasTimes);
  }

  #ended(certificate) {
    const isTold = "deleted" in this.root.dataset; // rendered by the server, translated
    if (!isTold && (isEnglish || !this.foot.className)) this.foot.textContent = sealed(certificate);
    this.foot.title = `sha256 ${certificate.sha256}\nblake3 ${certificate.blake3}`;
    this.foot.className = certificate.complete
      ? "good"
      : certificate.deleted || isUncounted(certificate)
        ? ""
        : "bad";
    if (!isTold)
      this.root.querySelector("[data-empty]").textContent = certificate.deleted
        ? certificate.text
        : say("The job wrote nothing.");
    this.isEnded = true;
    if (this.why) this.#scan();
    this.#more();
  }
}

const isUncounted = (c) => c.uncounted && !c.gaps.length;

// The portal's sentence, which arrives in English: for other languages that of a complete log.
const sealed = (c) =>
  isEnglish || !c.complete
    ? c.text
    : c.bytes
      ? say("The log is complete: {size}.", { size: size(c.bytes) })
      : say("The job wrote nothing.");

// The first line of a group, which folds it.
function folder(group) {
  const button = more("fold", group.title || say("Group", { context: "button" }));
  button.className = "log-group";
  button.dataset.line = group.start;
  button.disabled = group.end === null;
  button.setAttribute("aria-expanded", String(!group.isFolded));
  if (group.isFolded) {
    const lines = document.createElement("span");
    lines.className = "faint";
    lines.textContent = say("{n} lines", {
      context: "text, log-view",
      n: number(group.end - group.start),
    });
    button.append(" ", lines);
  }
  return button;
}

function more(what, text) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "btn plain small";
  button.dataset.do = what;
  button.textContent = text;
  return button;
}

function size(bytes) {
  for (const [name, unit] of [
    ["GiB", 2 ** 30],
    ["MiB", 2 ** 20],
    ["KiB", 2 ** 10],
  ])
    if (bytes >= unit) return `${(bytes / unit).toFixed(1)} ${name}`;
  return say("{n} bytes", { context: "text, log-view", n: bytes });
}

for (const root of document.querySelectorAll("[data-log]")) root.logView = new LogView(root);
