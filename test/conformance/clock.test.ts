import { expect, it } from "vitest";
import { describeBackends, startMs, describeIsolated } from "../support/backends.ts";
import { aReview } from "../support/builders.ts";
import { sql } from "kysely";

describeBackends("a service whose clock shows an impossible time", (harness) => {
  const impossible = { kind: "unavailable", message: expect.stringContaining("clock") };

  it.each([8.64e15 + 1, 1e300, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])("refuses calls: %d", async (time) => {
    const { clock, newAccount, work } = harness();
    const { service } = await newAccount();
    clock.set(time);
    await expect(service.reviews.create(aReview())).rejects.toMatchObject(impossible);
    await expect(service.reviews.list({})).rejects.toMatchObject(impossible);
    await expect(work.read(async () => 1)).rejects.toMatchObject(impossible);
    await expect(work.write(undefined, async () => 1)).rejects.toMatchObject(impossible);
    clock.set(startMs);
    await service.reviews.create(aReview());
    expect((await service.reviews.list({ count: 10 })).reviews).toHaveLength(1);
  });
});

describeIsolated("a database that lost a table", (harness) => {
  it("is reported as damaged, to readers and writers", async () => {
    const { database, newAccount } = harness();
    const { service } = await newAccount();
    await sql`alter table reviews rename to lost`.execute(database.db);
    const damaged = { kind: "storageFailed", message: expect.stringContaining("a table is missing") };
    await expect(service.reviews.create(aReview())).rejects.toMatchObject(damaged);
    await expect(service.reviews.list({ count: 1 })).rejects.toMatchObject(damaged);
    await sql`alter table lost rename to reviews`.execute(database.db);
    await service.reviews.create(aReview());
  });
});
