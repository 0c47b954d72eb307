import { defineConfig, mergeConfig } from "vitest/config";
import base from "./vitest.config.ts";

/** Tests of the default suite that run again with large sizes or on more backends: see `test/support/suite-size.ts`. */
const enlarged = [
  "test/worked-example.test.ts",
  "test/cli/operations.test.ts",
  "test/conformance/**/*.test.ts",
  "test/fuzz/**/*.test.ts",
  "test/browser/demo.test.ts",
  "test/browser/element-forms.test.ts",
  "test/browser/elements.test.ts",
  "test/browser/hostile-texts.test.ts",
  "test/browser/mails.test.ts",
  "test/browser/pages.test.ts",
  "test/e2e/totals.property.test.ts",
  "test/e2e/backup-during-import.test.ts",
  "test/e2e/existing-files.test.ts",
  "test/e2e/faults.test.ts",
  "test/e2e/hostile-output.test.ts",
  "test/e2e/interruption.test.ts",
  "test/e2e/killed-server.test.ts",
  "test/e2e/large-archives.test.ts",
  "test/e2e/mail-campaign.test.ts",
  "test/e2e/mail-run.test.ts",
  "test/e2e/json-everywhere.test.ts",
  "test/e2e/no-hanging.test.ts",
  "test/e2e/plan-agreement.test.ts",
  "test/e2e/redacted-output.test.ts",
  "test/e2e/scale-load.test.ts",
  "test/e2e/sealing-key.test.ts",
  "test/e2e/shared-limit.test.ts",
];

export default mergeConfig(
  { ...base, test: { ...base.test, include: [], exclude: [] } },
  defineConfig({
    test: {
      include: [...enlarged],
      exclude: ["node_modules/**"],
      maxWorkers: 1,
      testTimeout: 1_800_000,
      hookTimeout: 600_000,
      env: { STARPOST_TEST_SLOW: "1" },
    },
  }),
);
