import { defineConfig, mergeConfig } from "vitest/config";
import base from "./vitest.config.ts";

const { STARPOST_TEST_CITUS_WORKERS: citusWorkers } = process.env;
if (!citusWorkers) console.log("Skipping tests on Citus: not running. Start it with .ci/citus start");

const defaults = citusWorkers ? "citus" : "pgbouncer,partitions";

/** The conformance and wire suites on PostgreSQL databases that are set up in other ways; see `test/support/databases.ts`. */
export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  defineConfig({
    test: {
      include: ["test/conformance/**/*.test.ts", "test/wire/**/*.test.ts"],
      exclude: ["test/conformance/deleted-database.test.ts"],
      // On Citus, a statement takes several times as long.
      testTimeout: 240_000,
      env: { STARPOST_TEST_DATABASES: process.env.STARPOST_TEST_DATABASES ?? defaults },
    },
  }),
);
