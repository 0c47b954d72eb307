import { defineConfig, mergeConfig } from "vitest/config";
import base, { timedFiles } from "./vitest.config.ts";

/** Attacks on a running server, shared rates, and the speed of elements. Nothing else runs meanwhile, because times and memory are measured. */
export default mergeConfig(
  { ...base, test: { ...base.test, include: [], exclude: [], execArgv: [] } },
  defineConfig({
    test: {
      include: ["test/attack/**/*.test.ts", ...timedFiles],
      exclude: ["node_modules/**"],
      maxWorkers: 1,
      testTimeout: 300_000,
    },
  }),
);
