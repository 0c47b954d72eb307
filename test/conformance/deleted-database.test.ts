import { renameSync, rmSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { backends, type Harness, type TestAccount } from "../support/backends.ts";
import { aReview } from "../support/builders.ts";

const onFiles = backends.filter(({ name }) => name.endsWith("sqlite"));

describe.each(onFiles)("a database file over $name", ({ open }) => {
  let harness: Harness;
  let account: TestAccount;
  beforeEach(async () => {
    harness = await open();
    account = await harness.newAccount();
    await review();
  });
  afterEach(() => harness.close());

  const review = () => account.service.reviews.create(aReview());
  const refusal = { kind: "unavailable", message: expect.stringContaining("deleted or replaced") };

  it.each<[string, (path: string) => void]>([
    ["was deleted", (path) => rmSync(path)],
    ["was moved", (path) => renameSync(path, `${path}.old`)],
    [
      "was replaced",
      (path) => {
        renameSync(path, `${path}.old`);
        writeFileSync(path, "");
      },
    ],
    ["lost its write-ahead log", (path) => rmSync(`${path}-wal`)],
    ["lost the index of its log", (path) => rmSync(`${path}-shm`)],
  ])("gets no more writes after it %s", async (_what, remove) => {
    remove(harness.database.shownAs);
    await expect(review()).rejects.toMatchObject(refusal);
    await expect(Promise.all([review(), review(), review()])).rejects.toMatchObject(refusal);
    expect((await account.service.reviews.list({ count: 10 })).reviews).toHaveLength(1);
  });

  it("reports no write as successful that it lost during the commit", async () => {
    const path = harness.database.shownAs;
    const write = harness.work.write(undefined, async () => rmSync(path));
    await expect(write).rejects.toMatchObject({ kind: "timeout", outcomeUnknown: true });
  });

  it("is written again once the same file is back", async () => {
    const path = harness.database.shownAs;
    renameSync(path, `${path}.moved`);
    await expect(review()).rejects.toMatchObject(refusal);
    renameSync(`${path}.moved`, path);
    await review();
    expect((await account.service.reviews.list({ count: 10 })).reviews).toHaveLength(2);
  });
});
