import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Rooms whose files take longest, since they start programs and browsers. */
const slowRooms = ["test/e2e/", "test/browser/", "test/cli/"];

/** Begins with what takes longest, so that no worker is left alone with it at the end. */
class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = ({ moduleId }: TestSpecification) => slowRooms.some((room) => moduleId.includes(room));
    const sorted = await super.sort(files);
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/postgres.ts"],
    // Two at least: much of a test's time is spent waiting for a program that it started.
    maxWorkers: Math.max(2, availableParallelism()),
    // Most files load most of the program, which takes longer than their tests do. So a worker loads it once, and files
    // share what modules hold: a test that changes what belongs to all puts it back.
    isolate: false,
    restoreMocks: true,
    sequence: { sequencer: SlowestFirst },
    // Only what hangs takes as long, also where other work goes on beside the tests.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // The machine's own variables must not decide what a test sees.
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
