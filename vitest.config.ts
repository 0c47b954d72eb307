import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { generatedModulesOfVite } from "./.ci/generated-modules.js";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that measure times to which other tests would add. */
export const timedFiles: readonly string[] = ["test/browser/element-speed.test.ts", "test/e2e/shared-limit.test.ts"];

/** The longest test files: these start programs and browsers. */
const long = ["test/worked-example.test.ts", "test/e2e/", "test/browser/", "test/cli/"];

/** Runs the longest files first, so that no worker is left alone with one of them at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => long.some((name) => moduleId.includes(name));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  plugins: [generatedModulesOfVite],
  test: {
    include: ["test/**/*.test.ts"],
    // These run alone: see `vitest.attack.config.ts`.
    exclude: ["test/attack/**", ...timedFiles, "node_modules/**"],
    globalSetup: ["test/support/postgres.ts"],
    // Two more than there are cores: many tests wait for a process, a retry, or a pace.
    maxWorkers: Math.max(2, availableParallelism()) + 2,
    // The workers use all cores, so more threads that collect garbage would only wait for each other.
    execArgv: ["--single-threaded-gc"],
    // Loading the program takes longer than most tests, so a worker loads it once for all its files. A test that changes
    // global state restores it.
    isolate: false,
    restoreMocks: true,
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    // The variables of the machine must not influence the tests.
    env: {
      STARPOST_HOME: "",
      STARPOST_PROFILE: "",
      STARPOST_DATABASE: "",
      STARPOST_BASE_URL: "",
      STARPOST_KEY: "",
      STARPOST_PUBLIC_URL: "",
    },
  },
});
