// A class of GPUs as people write it, as the server does: "H100", "MIG 1g.10gb", "H100 shared".
export function gpuName(kind) {
  if (kind.startsWith("mig-")) return `MIG ${kind.slice(4)}`;
  const [model, share] = kind.split(".");
  return share ? `${model.toUpperCase()} ${share.replace("mps", "MPS")}` : model.toUpperCase();
}
