import { describe, expect, test } from "vitest";
import { emailTypes } from "../../src/contract/index.ts";
import { makeFolder, run } from "./support.ts";

const types = Object.keys(emailTypes).map(Number);

/** A store of its own, and a way to call the program on it. */
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

describe("an address that wants no more mails", () => {
  test("is added for every type, found whatever its case, and taken back", async () => {
    const call = openStore();
    const added = await call("unsubscribers", "add", "Ann@mail.example");
    expect(added).toMatchObject({ status: 0, stderr: "Ann@mail.example gets no more mails of any type.\n" });
    const found = await call("unsubscribers", "find", "ann@MAIL.example", "--json");
    expect((found.data as { email_type_id: number }[]).map((one) => one.email_type_id)).toEqual(types);
    const removed = await call("unsubscribers", "remove", "ann@mail.example", "--yes", "--json");
    expect(removed).toMatchObject({ status: 0, data: { errors: [] } });
    const gone = await call("unsubscribers", "find", "ann@mail.example");
    expect(gone).toMatchObject({ status: 1, stdout: "" });
    expect(gone.stderr).toContain("ann@mail.example is not unsubscribed from any mails");
  });

  test("is added for the types that are named alone", async () => {
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

  test("is refused with 3 where it is none, and the others are added", async () => {
    const call = openStore();
    const ran = await call("unsubscribers", "add", "nobody", "a@mail.example", "--type", "1");
    expect(ran.status).toBe(3);
    expect(ran.stderr).toBe("nobody: email is not valid\na@mail.example gets no more mails of type 1.\n");
  });

  test("is refused with 2 where the type is not known", async () => {
    const ran = await openStore()("unsubscribers", "add", "a@mail.example", "--type", "18");
    expect(ran.status).toBe(2);
    expect(ran.stderr).toContain('--type: "18" is no email type');
  });

  test("is not taken back where nobody can be asked", async () => {
    const ran = await openStore()("unsubscribers", "remove", "a@mail.example");
    expect(ran.status).toBe(2);
    expect(ran.stderr).toContain("--yes");
  });
});
