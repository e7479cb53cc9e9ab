// Names of what machines measure, and of sections.
import { say } from "../words.js";

const SENSORS = {
  "cpu.used": () => say("CPU cores in use"),
  "cpu.utilization": () => say("CPU utilization"),
  "cpu.load1": () => say("Load (1 min)"),
  "cpu.mode": () => say("CPU by mode"),
  "memory.used": () => say("Memory in use"),
  "memory.available": () => say("Memory available"),
  "memory.total": () => say("Memory total"),
  "gpu.utilization": () => say("GPU utilization"),
  "gpu.memory.used": () => say("GPU memory in use"),
  "gpu.memory.total": () => say("GPU memory total"),
  "gpu.power": () => say("GPU power"),
  "gpu.temperature": () => say("GPU temperature"),
  "gpu.memory.temperature": () => say("GPU memory temperature"),
  "gpu.engine.active": () => say("Engine activity"),
  "gpu.sm.active": () => say("SM activity"),
  "gpu.sm.occupancy": () => say("SM occupancy"),
  "gpu.tensor.active": () => say("Tensor core activity"),
  "gpu.memory.bandwidth": () => say("Memory bandwidth used"),
  "gpu.memory.utilization": () => say("Memory controller utilization"),
  "gpu.clock.sm": () => say("SM clock"),
  "gpu.clock.memory": () => say("Memory clock"),
  "gpu.pcie.sent": () => say("PCIe sent"),
  "gpu.pcie.received": () => say("PCIe received"),
  "gpu.nvlink.sent": () => say("NVLink sent"),
  "gpu.nvlink.received": () => say("NVLink received"),
  "gpu.ecc.corrected": () => say("Corrected memory errors"),
  "gpu.ecc.uncorrected": () => say("Uncorrected memory errors"),
  "gpu.rows.corrected": () => say("Rows remapped after corrected errors"),
  "gpu.rows.uncorrected": () => say("Rows remapped after uncorrected errors"),
  "gpu.rows.pending": () => say("Row remapping pending"),
  "gpu.rows.failed": () => say("Row remapping failed"),
  "gpu.throttled": () => say("Clocks throttled"),
  "gpu.throttle": () => say("Throttle reasons"),
  "gpu.xid": () => say("XID errors"),
  processes: () => say("Processes"),
  "io.read": () => say("Disk reads"),
  "io.write": () => say("Disk writes"),
  "disk.read": () => say("Disk reads"),
  "disk.write": () => say("Disk writes"),
  "disk.used": () => say("Disk in use"),
  "disk.total": () => say("Disk size"),
  "net.rx": () => say("Network in"),
  "net.tx": () => say("Network out"),
};
const SECTIONS = {
  "": () => say("Metrics"),
  GPU: () => say("GPU"),
  "CPU and memory": () => say("CPU and memory"),
  "Disk and network": () => say("Disk and network"),
  System: () => say("System"),
};

export const chartTitle = (chart) => (chart.isSystem && SENSORS[chart.title]?.()) || chart.title;
export const sectionTitle = (section) =>
  section.isSystem || !section.title ? SECTIONS[section.title]() : section.title;
