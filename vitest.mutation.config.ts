import { defineConfig, mergeConfig } from "vitest/config";
import base from "./vitest.config.ts";

/** The tests that run the sources in-process; those that start the built program cannot see a mutant. */
const inProcess = ["client", "engine", "export", "import", "records", "service", "storage"].map(
  (name) => `test/unit/${name}/**/*.test.ts`,
);

export default mergeConfig({ ...base, test: { ...base.test, include: [] } }, defineConfig({ test: { include: inProcess } }));
