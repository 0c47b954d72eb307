import { expect, it } from "vitest";
import type { InputOf } from "../../src/service/transport.ts";
import { describeBackends } from "../support/backends.ts";
import { invalidField } from "../support/service-errors.ts";

const dayMs = 24 * 3_600_000;

describeBackends("searching unsubscribers", (harness) => {
  it("finds addresses by address, type, and time, by page", async () => {
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
    const at = (days: number) => new Date(startMs + days * dayMs).toISOString();
    const all = ["cy@ 1", "bo@ 2", "ann 17", "Ann 1"];
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
    for (const [field, value] of Object.entries({ limit: 0, page_info: "1", email_type_id: 18 })) {
      await expect(service.unsubscribers.search({ [field]: value })).rejects.toMatchObject(invalidField(field));
    }
  });
});
