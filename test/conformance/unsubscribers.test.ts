import { expect, it } from "vitest";
import { describeBackends, type Harness, type TestAccount } from "../support/backends.ts";
import { invalidField, mentioning } from "../support/service-errors.ts";
import type { InputOf } from "../../src/service/transport.ts";

async function accountId({ database }: Harness, { caller }: TestAccount): Promise<number> {
  const found = await database.db
    .selectFrom("accounts")
    .select("id")
    .where("app_key", "=", caller.appKey)
    .executeTakeFirstOrThrow();
  return found.id;
}

/** Unsubscribes an address as its owner would, for which there is no operation. */
async function unsubscribeAsUser(harness: Harness, account: TestAccount, email: string): Promise<void> {
  await harness.database.db
    .insertInto("unsubscribers")
    .values({
      account_id: await accountId(harness, account),
      email_type_id: 1,
      email,
      email_key: email.toLowerCase(),
      by_name: "USER",
      created_at: harness.clock(),
    })
    .execute();
}

const record = (user_email: string, email_type_id: number, by = "MODERATOR") => ({
  id: expect.any(Number),
  user_email,
  email_type_id,
  unsubscirbed_by_name: by,
});

const badEmail = (value: string) => ({ value, error: mentioning("email") });
const badType = (value: string) => ({ value, error: mentioning("email type") });

describeBackends("unsubscribers.massCreate", (harness) => {
  it("refuses more than 2,500 addresses of all types", async () => {
    const { service } = await harness().newAccount();
    const listOf = (count: number) => Array.from({ length: count }, () => "ann@mail.example");
    const call = (count: number) =>
      service.unsubscribers.massCreate({ email_list: { 1: listOf(1_250), 2: listOf(count) } });
    await expect(call(1_251)).rejects.toMatchObject(invalidField("email_list"));
    expect((await call(1_250)).unsubscribers).toHaveLength(2);
  });

  it("treats a repeated address as one, in its first spelling", async () => {
    const { service } = await harness().newAccount();
    const email_list = { 1: ["ann@mail.example", "Ann@mail.example"] };
    expect(await service.unsubscribers.massCreate({ email_list })).toEqual({
      unsubscribers: [record("ann@mail.example", 1)],
    });
  });

  const mixed = { 1: ["ann@mail.example", "nobody"], 18: ["bea@mail.example"], x: [] };
  const problems = [badEmail("nobody"), badType("18"), badType("x")];

  it("stores the valid addresses of a call with invalid ones and types", async () => {
    const { service } = await harness().newAccount();
    expect(await service.unsubscribers.massCreate({ email_list: mixed })).toEqual({
      unsubscribers: [record("ann@mail.example", 1)],
    });
  });

  it("returns no records for an async request, which is already applied, and errors only when validating", async () => {
    const { service } = await harness().newAccount();
    const call = (validate_data: boolean | undefined, email_list: Record<string, string[]>) =>
      service.unsubscribers.massCreate({ email_list, async: true, validate_data });
    expect(await call(undefined, mixed)).toEqual({});
    expect((await service.unsubscribers.list({})).unsubscribers).toEqual([record("ann@mail.example", 1)]);
    expect(await call(true, mixed)).toEqual({ errors: problems });
    expect(await call(true, { 2: ["ann@mail.example"] })).toEqual({ errors: [] });
  });

  it("does not change an address that its owner unsubscribed", async () => {
    const account = await harness().newAccount();
    await unsubscribeAsUser(harness(), account, "ann@mail.example");
    const reply = await account.service.unsubscribers.massCreate({ email_list: { 1: ["ann@mail.example"] } });
    expect(reply).toEqual({ unsubscribers: [record("ann@mail.example", 1, "USER")] });
  });
});

describeBackends("unsubscribers.massDelete", (harness) => {
  it("removes addresses, returns their records, and ignores unknown ones", async () => {
    const { service } = await harness().newAccount();
    const email_list = { 1: ["ann@mail.example"], 2: ["ann@mail.example"] };
    const { unsubscribers } = await service.unsubscribers.massCreate({ email_list });
    const reply = await service.unsubscribers.massDelete({
      email_list: { 1: ["ANN@mail.example", "bea@mail.example", "nobody"] },
    });
    expect(reply).toEqual({ unsubscribers: [unsubscribers?.[0]] });
    expect((await service.unsubscribers.list({})).unsubscribers).toEqual([unsubscribers?.[1]]);
  });

  it("also resubscribes an address that its owner unsubscribed", async () => {
    const account = await harness().newAccount();
    await unsubscribeAsUser(harness(), account, "ann@mail.example");
    const email_list = { 1: ["ann@mail.example"] };
    expect(await account.service.unsubscribers.massDelete({ email_list })).toEqual({
      unsubscribers: [record("ann@mail.example", 1, "USER")],
    });
    expect(await account.service.unsubscribers.massDelete({ email_list, async: true })).toEqual({});
    const validating = { email_list: { ...email_list, x: Array.of<string>() }, async: true, validate_data: true };
    expect(await account.service.unsubscribers.massDelete(validating)).toEqual({ errors: [badType("x")] });
    expect((await account.service.unsubscribers.list({})).unsubscribers).toEqual([]);
  });
});

const dayMs = 24 * 3_600_000;

describeBackends("searching unsubscribers", (harness) => {
  const all = ["cy@ 1", "bo@ 2", "ann 17", "Ann 1"];

  /** Adds addresses on three days, and one to another account. */
  const addAddresses = async () => {
    const [{ service }, other] = [await harness().newAccount(), await harness().newAccount()];
    const startMs = harness().clock();
    await other.service.unsubscribers.massCreate({ email_list: { 1: ["ann@mail.example"] } });
    const lists: readonly Record<string, string[]>[] = [
      { 1: ["Ann@mail.example"], 17: ["ann@mail.example"] },
      { 2: ["bo@mail.example"] },
      { 1: ["cy@mail.example"] },
    ];
    for (const email_list of lists) {
      await service.unsubscribers.massCreate({ email_list });
      harness().clock.advance(dayMs);
    }
    const find = async (query: InputOf<"unsubscribers.search">) =>
      (await service.unsubscribers.search(query)).unsubscribers.map(
        ({ user_email, email_type_id }) => `${user_email.slice(0, 3)} ${email_type_id}`,
      );
    return { service, find, at: (days: number) => new Date(startMs + days * dayMs).toISOString() };
  };

  it("finds addresses by address, type, and time", async () => {
    const { find, at } = await addAddresses();
    expect(await find({})).toEqual(all);
    expect(await find({ sort: "oldest" })).toEqual(all.toReversed());
    expect(await find({ email: "ANN@mail.example" })).toEqual(["ann 17", "Ann 1"]);
    expect(await find({ email: "ann@mail.example", email_type_id: 1 })).toEqual(["Ann 1"]);
    expect(await find({ email: "nobody@mail.example" })).toEqual([]);
    expect(await find({ email_type_id: 1 })).toEqual(["cy@ 1", "Ann 1"]);
    expect(await find({ email_type_id: 3 })).toEqual([]);
    expect(await find({ since_date: at(1) })).toEqual(["cy@ 1", "bo@ 2"]);
    expect(await find({ until_date: at(1) })).toEqual(["ann 17", "Ann 1"]);
    expect(await find({ since_date: at(0.5), until_date: at(2), email_type_id: 2 })).toEqual(["bo@ 2"]);
  });

  it("finds addresses by page, and refuses invalid pages", async () => {
    const { service, find, at } = await addAddresses();
    for (const [sort, expected] of [
      ["newest", all],
      ["oldest", all.toReversed()],
    ] as const) {
      const first = await service.unsubscribers.search({ sort, limit: 3 });
      const page_info = first.pagination.next_page_info ?? "";
      expect(first.unsubscribers).toHaveLength(3);
      expect(await find({ sort, page_info })).toEqual(expected.slice(3));
      expect((await service.unsubscribers.search({ sort, page_info })).pagination).toEqual({ next_page_info: null });
    }
    const [newest] = (await service.unsubscribers.search({ limit: 1 })).unsubscribers;
    expect(newest).toEqual({
      id: expect.any(Number),
      user_email: "cy@mail.example",
      email_type_id: 1,
      unsubscirbed_by_name: "MODERATOR",
      created_at: at(2),
    });
    for (const [field, value] of Object.entries({ page_info: "1", email_type_id: 18 })) {
      await expect(service.unsubscribers.search({ [field]: value })).rejects.toMatchObject(invalidField(field));
    }
  });
});
