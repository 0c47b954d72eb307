import { describe, expect, test } from "vitest";
import { emailTypes } from "../../src/contract/index.ts";
import { makeFolder, run } from "./support.ts";

const types = Object.keys(emailTypes).map(Number);

/** Creates a function that runs the program with its own database. */
function openStore() {
  const env = { STARPOST_HOME: makeFolder(), STARPOST_KEYRING: "off" };
  return async (...words: string[]) => {
    const { status, stdout, stderr } = await run(words, { env });
    return {
      status,
      stdout,
      stderr,
      data: stdout.startsWith("{") || stdout.startsWith("[") ? (JSON.parse(stdout) as unknown) : undefined,
    };
  };
}

describe("unsubscribed addresses", () => {
  test("unsubscribes an address from every type, finds it in any case, and resubscribes it", async () => {
    const call = openStore();
    const added = await call("unsubscribers", "add", "Ann@mail.example");
    expect(added).toMatchObject({ status: 0, stderr: expect.stringContaining("Ann@mail.example") as string });
    const found = await call("unsubscribers", "find", "ann@MAIL.example", "--json");
    expect((found.data as { email_type_id: number }[]).map((one) => one.email_type_id)).toEqual(types);
    const removed = await call("unsubscribers", "remove", "ann@mail.example", "--yes", "--json");
    expect(removed).toMatchObject({ status: 0, data: { errors: [] } });
    const gone = await call("unsubscribers", "find", "ann@mail.example");
    expect(gone).toMatchObject({ status: 1, stdout: "" });
    expect(gone.stderr).toContain("ann@mail.example");
  });

  test("unsubscribes from the given types only", async () => {
    const call = openStore();
    await call("unsubscribers", "add", "a@mail.example", "b@mail.example", "--type", "1", "--type", "16");
    const listed = await call("unsubscribers", "list", "--json");
    const pairs = (listed.data as { user_email: string; email_type_id: number }[]).map(
      (one) => `${one.user_email} ${one.email_type_id}`,
    );
    expect(pairs.toSorted()).toEqual([
      "a@mail.example 1",
      "a@mail.example 16",
      "b@mail.example 1",
      "b@mail.example 16",
    ]);
  });

  test("rejects an invalid address with status 3 and adds the others", async () => {
    const call = openStore();
    const ran = await call("unsubscribers", "add", "nobody", "a@mail.example", "--type", "1");
    expect(ran.status).toBe(3);
    expect(ran.stderr).toMatch(/^nobody: .*\n.*a@mail\.example/);
  });

  test("rejects an unknown type with status 2", async () => {
    const ran = await openStore()("unsubscribers", "add", "a@mail.example", "--type", "18");
    expect(ran.status).toBe(2);
    expect(ran.stderr).toContain('"18" for --type');
  });

  test("requires --yes to resubscribe without a prompt", async () => {
    const ran = await openStore()("unsubscribers", "remove", "a@mail.example");
    expect(ran.status).toBe(2);
    expect(ran.stderr).toContain("--yes");
  });
});
