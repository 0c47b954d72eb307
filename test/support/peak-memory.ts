import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "./starpost.ts";

export const hasPeakMemory = existsSync("/proc/self/status");

/** The environment in which a process of a home records its peak memory. `read` returns it, in bytes. */
export function recordPeakMemory(home: Home) {
  const [peak, probe] = [join(home.folder, "peak"), join(home.folder, "probe.cjs")];
  const report = `fs.writeFileSync(${JSON.stringify(peak)}, /VmHWM:\\s*(\\d+)/.exec(fs.readFileSync("/proc/self/status"))[1])`;
  writeFileSync(probe, `const fs = require("fs"); process.on("exit", () => ${report})`);
  return { env: { NODE_OPTIONS: `--require ${probe}` }, read: () => Number(readFileSync(peak, "utf8")) * 1_024 };
}
