/** Mutation tests of the code whose faults would lose rows; see `docs/development/slow-tests.md`. */
export default {
  plugins: ["@stryker-mutator/vitest-runner", "./.ci/stryker-sentences.js"],
  ignorers: ["sentences"],
  testRunner: "vitest",
  vitest: { configFile: "vitest.mutation.config.ts" },
  // Stryker would rewrite the configuration with functions that TypeScript 7 does not have.
  tsconfigFile: "none",
  mutate: ["src/import/**/*.ts", "src/client/**/*.ts", "src/engine/kernel/**/*.ts", "src/storage/**/*.ts"],
  ignoreStatic: true,
  incremental: true,
  incrementalFile: "node_modules/.cache/stryker/incremental.json",
  reporters: ["progress-append-only", "clear-text", "html", "json"],
  htmlReporter: { fileName: "node_modules/.cache/stryker/report.html" },
  jsonReporter: { fileName: "node_modules/.cache/stryker/report.json" },
  concurrency: 2,
  thresholds: { high: 90, low: 80, break: 80 },
};
