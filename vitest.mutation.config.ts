import { defineConfig, mergeConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import base from "./vitest.config.ts";

/** The tests of the area under test; those that start the built program cannot see a mutant. */
const folders = process.env.STARPOST_MUTATION_TESTS?.split(",") ?? [];
const inProcess = folders.map((name) =>
  name.startsWith("conformance/") ? `test/${name}.test.ts` : `test/unit/${name}/**/*.test.ts`,
);

/** Runs short files first, because the first failure ends the run of a mutant. */
class ShortestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const longestFirst = await super.sort(files);
    return longestFirst.toReversed();
  }
}

export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  defineConfig({
    test: {
      isolate: false,
      include: inProcess,
      env: { STARPOST_TEST_MUTATION: "1" },
      sequence: { sequencer: ShortestFirst },
    },
  }),
);
