// Find the line of a log that tells why the job failed, and the rank that wrote a line.
const TRACEBACK = /Traceback \(most recent call last\)/;
const STRONG =
  /CUDA out of memory|CUDA error|CUDNN_STATUS_|NCCL (?:error|timeout)|nccl\w*Error|\b[A-Z]\w*(?:Error|Exception)\b(?::|$)|Segmentation fault|core dumped|\bFATAL\b|\bpanic:|command not found|No space left on device|oom[-_]kill|\bKilled$|(?:slurmstepd|srun|mpirun): error|^ERROR\b|^error:|\berror: /;
const WEAK = /\b(?:error|fatal|failed|exception)\b/i;
const REACH = 400; // lines from the start of a traceback to the error that ends it

// see(line, text) takes every line in order; `line` is then the number of the line to show, or null.
export function rootError(evidence = "") {
  const key = keyOf(evidence);
  let traceback = null,
    told = null,
    strong = null,
    weak = null;
  return {
    see(line, text) {
      if (TRACEBACK.test(text)) {
        if (told === null) traceback = line;
        strong ??= line;
        return;
      }
      if (key && text.includes(key)) {
        const isNear = traceback !== null && line - traceback < REACH;
        told ??= isNear ? traceback : line;
      }
      if (STRONG.test(text)) strong ??= line;
      else if (WEAK.test(text)) weak ??= line;
    },
    get line() {
      return told ?? strong ?? weak;
    },
  };
}

// The part of the evidence that the program itself wrote.
function keyOf(evidence) {
  const last = evidence.trim().split("\n").at(-1);
  const text = last.replace(/^(?:Rank \d+: )?(?:Exit code \d+\. )?/, "").trim();
  return text.length >= 8 ? text.slice(0, 200) : "";
}

// The rank in the prefix that torchrun, PyTorch, mpirun and srun write, as text; null without one.
export function rankOf(text) {
  const found = /^\s*\[(?:rank|default)(\d+)\]|^\[\d+,(\d+)\]<std|^ *(\d{1,5}): /.exec(text);
  return found ? (found[1] ?? found[2] ?? found[3]) : null;
}
