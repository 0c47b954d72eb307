import { defineConfig, mergeConfig } from "vitest/config";
import base from "./vitest.config.ts";

/** Attacks on a running server. Nothing else runs meanwhile, because its event loop and memory are measured. */
export default mergeConfig(
  { ...base, test: { ...base.test, include: [], exclude: [] } },
  defineConfig({
    test: {
      include: ["test/attack/**/*.test.ts"],
      exclude: ["node_modules/**"],
      maxWorkers: 1,
      testTimeout: 300_000,
    },
  }),
);
