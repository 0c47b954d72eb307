import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sendJson, startLoopback } from "../support/loopback.ts";
import { makeFolder, makeHomeWithDatabase, run } from "./support.ts";

test("a file of decisions that cannot be completed reports what was done before", async () => {
  const server = await startLoopback((response, _at, { url }) => {
    if (url === "/oauth/token") sendJson(response, 200, { access_token: "token", token_type: "bearer" });
    else sendJson(response, 401, { status: { code: 401, message: "no", error_type: "unauthorized" } });
  });
  onTestFinished(() => server.close());
  const folder = makeFolder();
  const env = {
    STARPOST_HOME: folder,
    STARPOST_BASE_URL: server.url,
    STARPOST_APP_KEY: "shop",
    STARPOST_SECRET: "secret",
  };
  const file = join(folder, "decisions.ndjson");
  writeFileSync(file, '{"id": 1, "decision": "skip"}\n{"id": 2, "decision": "publish"}\n');
  const { status, stderr } = await run(["reviews", "moderate", "--decisions", file, "--yes"], { env });
  expect(status).toBe(4);
  expect(stderr).toMatch(/review 2\b.*1 skipped/);
});

test("an empty queue prints a message, except to scripts", async () => {
  const env = { STARPOST_HOME: await makeHomeWithDatabase() };
  const list = await run(["reviews", "moderate"], { env });
  expect([list.stdout, list.stderr]).toEqual(["", expect.stringContaining("No reviews")]);
  expect(await run(["reviews", "moderate", "--json"], { env })).toMatchObject({ stdout: "[]\n", stderr: "" });
});
