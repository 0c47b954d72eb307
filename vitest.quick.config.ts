import { defineConfig, mergeConfig } from "vitest/config";
import base from "./vitest.config.ts";

/** Folders of `test/unit` whose tests start no program and no server, and need neither a build nor PostgreSQL. */
const pureFolders = [
  "cli",
  "config",
  "contract",
  "doctor",
  "email/templates",
  "export",
  "import",
  "pages",
  "records",
  "service",
  "terminal",
];

/** The tests to run after each change. */
export default mergeConfig(
  { ...base, test: { ...base.test, include: [], globalSetup: [] } },
  defineConfig({
    test: {
      include: [
        "test/architecture.test.ts",
        "test/language.test.ts",
        ...pureFolders.map((folder) => `test/unit/${folder}/**/*.test.ts`),
      ],
      // Starts the thread of the built program.
      exclude: ["test/unit/email/templates/template-renderer.test.ts"],
      env: { STARPOST_TEST_POSTGRES: "" },
    },
  }),
);
