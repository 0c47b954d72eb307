import { sql } from "kysely";
import { expect, it } from "vitest";
import { describeIsolated } from "../support/backends.ts";
import { aReview } from "../support/builders.ts";

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
