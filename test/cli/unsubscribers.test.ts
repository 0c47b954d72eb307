import { writeFileSync } from "node:fs";
import { join } from "node:path";
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

  test("shows email types by name in lists and customers", async () => {
    const call = openStore();
    await call("unsubscribers", "add", "a@mail.example", "--type", "1", "--type", "coupons");
    await call("unsubscribers", "add", "b@mail.example");
    const typesOf = async (...argv: string[]) => (await call(...argv, "--jq", ".[].type")).stdout.trim().split("\n");
    expect(await typesOf("unsubscribers", "list", "--email", "a@mail.example")).toEqual(["coupons", "reviews"]);
    expect(await typesOf("unsubscribers", "list", "--limit", "2")).toEqual(["reviews", "coupons"]);
    expect(await typesOf("unsubscribers", "find", "a@mail.example")).toEqual(["reviews", "coupons"]);
    const listed = await call("unsubscribers", "list", "--email", "a@mail.example");
    expect(listed.stdout.split("\n")[0]?.match(/\bTYPE\b/g)).toEqual(["TYPE"]);
    expect((await call("unsubscribers", "list", "--columns", "type", "--limit", "1")).stdout).toBe("TYPE\nreviews\n");
    expect((await call("customers", "show", "a@mail.example")).stdout).toMatch(/ {2}reviews .*\n {2}coupons /);
    expect((await call("customers", "show", "b@mail.example")).stdout).toMatch(
      /\(1\)\n {2}all types {2}.* by the store\n/,
    );
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

  test("accepts the names of types, alone and in files", async () => {
    const call = openStore();
    await call("unsubscribers", "add", "a@mail.example", "--type", "reviews", "--type", "Coupons", "--type", "1");
    const file = join(makeFolder(), "list.csv");
    writeFileSync(file, "email,type\nb@mail.example,coupons\nc@mail.example,\nd@mail.example,16\n");
    const imported = await call("unsubscribers", "import", file, "--type", "store-questions", "--json");
    expect(imported).toMatchObject({ status: 0, data: { rows: { accepted: 3 } } });
    const unknown = await call("unsubscribers", "import", file, "--type", "review");
    expect(unknown).toMatchObject({ status: 2, stderr: expect.stringContaining("reviews") as string });
    const listed = await call("unsubscribers", "list", "--json");
    const pairs = (listed.data as { user_email: string; email_type_id: number }[]).map(
      (one) => `${one.user_email[0]} ${one.email_type_id}`,
    );
    expect(pairs.toSorted()).toEqual(["a 1", "a 17", "b 17", "c 9", "d 16"]);
  });

  test("requires --yes to resubscribe without a prompt", async () => {
    const call = openStore();
    await call("init", "--local");
    const ran = await call("unsubscribers", "remove", "a@mail.example");
    expect(ran.status).toBe(2);
    expect(ran.stderr).toContain("--yes");
  });
});
