import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { findForeignObjects } from "../../../../src/storage/sqlite/schema-check.ts";
import { SqliteFile } from "../../../../src/storage/sqlite/sqlite-file.ts";

const folder = mkdtempSync(join(tmpdir(), "starpost-schema-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("objects are known in the form in which the oldest version has created them", () => {
  const path = join(folder, "old.db");
  const file = new SqliteFile(path);
  file.execute(`
    create table "users" ("id" integer primary key autoincrement, "account_id" bigint not null, "email" text not null);
    create table "reviews" ("id" integer, "account_id" bigint); create table answers (id, account_id);
    create table review_images (id, account_id);
    create index "users_by_unverified_email" on "users" (account_id, lower(email)) where email is null;
    create view public_ids as select 'review' as kind, id, account_id from "reviews" union all select 'answer' as kind, id,
      account_id from "answers" union all select 'image' as kind, id, account_id from "review_images"
      union all select 'user' as kind, id, account_id from "users"`);
  expect(findForeignObjects(path)).toEqual([]);
  file.execute(`drop view public_ids; create view public_ids as select 'review' as kind, id, account_id from "users"`);
  expect(findForeignObjects(path)).toEqual(["view public_ids"]);
  file.close();
});
