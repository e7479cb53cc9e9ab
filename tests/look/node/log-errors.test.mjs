import assert from "node:assert/strict";
import test from "node:test";
import { rankOf, rootError } from "../../../static/js/log-errors.js";

function lineOf(evidence, text) {
  const found = rootError(evidence);
  text.split("\n").forEach((line, number) => found.see(number, line));
  return found.line;
}

test("the traceback that ends in the evidence is the reason, not an earlier handled error", () => {
  const text =
    "Traceback (most recent call last):\nValueError: retried\nstep 1\nTraceback (most recent call last):\n  main()\ntorch.OutOfMemoryError: CUDA out of memory.";
  assert.equal(lineOf("torch.OutOfMemoryError: CUDA out of memory.", text), 3);
  assert.equal(lineOf("Exit code 1. torch.OutOfMemoryError: CUDA out of memory.", text), 3);
  assert.equal(lineOf("", text), 0);
});

test("without a traceback the first strong error is the reason, else a weak one, else none", () => {
  assert.equal(lineOf("", "0 errors\nstep\nNCCL error: unhandled system error"), 2);
  assert.equal(lineOf("", "step\nbash: trian: command not found"), 1);
  assert.equal(lineOf("", "ok\nthe download failed"), 1);
  assert.equal(lineOf("", "ok\ndone"), null);
});

test("ranks are read from the prefixes of torchrun, mpirun and srun", () => {
  assert.deepEqual(
    ["[rank3]: Traceback", "[default12]:x", "[1,0]<stdout>: y", " 7: z", "step 7: z"].map(rankOf),
    ["3", "12", "0", "7", null],
  );
});
