import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/postgres.ts"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
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
