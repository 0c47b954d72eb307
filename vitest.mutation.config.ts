import { defineConfig, mergeConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import base from "./vitest.config.ts";

/** The tests that run the sources in-process; those that start the built program cannot see a mutant. */
const inProcess = ["client", "engine", "export", "import", "records", "service", "storage"].map(
  (name) => `test/unit/${name}/**/*.test.ts`,
);

/** Runs short files first, because the first failure ends the run of a mutant. */
class ShortestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toReversed();
  }
}

export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  defineConfig({
    test: { include: inProcess, env: { STARPOST_TEST_MUTATION: "1" }, sequence: { sequencer: ShortestFirst } },
  }),
);
