import { expect, it, vi } from "vitest";
import { operations } from "../../../src/contract/index.ts";
import { SqliteFile } from "../../../src/storage/sqlite/sqlite-file.ts";
import { engines } from "../../support/backends.ts";
import { callEveryOperation } from "../../support/every-call.ts";

it("uses an index in every statement of every operation", async () => {
  const sqlite = engines.find(({ name }) => name === "local-sqlite");
  if (!sqlite) throw new Error("there is no SQLite backend");
  const harness = await sqlite.open();
  try {
    const account = await harness.newAccount();
    const called = vi.spyOn(harness.transport, "call");
    const ran = [vi.spyOn(SqliteFile.prototype, "run"), vi.spyOn(SqliteFile.prototype, "all")];
    await callEveryOperation(harness, account);
    const calls = ran.flatMap(({ mock }) => mock.calls);
    const names = new Set(called.mock.calls.map(([name]) => name));
    vi.restoreAllMocks();
    expect([...operations.keys()].filter((name) => !names.has(name))).toEqual([]);
    const statements = new Map(calls.map(([sql, parameters = []]) => [sql, parameters]));
    // Excludes statements with which the tests read the outbox.
    const own = [...statements].filter(([sql]) => /^(select|insert|update|delete|with)\b/i.test(sql.trim()));
    const file = new SqliteFile(harness.database.shownAs);
    const scans = own
      .filter(([sql]) => !sql.includes('from "mails" order by'))
      // The names of tables and columns.
      .filter(([sql]) => !/sqlite_master|pragma_table_list/.test(sql))
      // Scans only if a foreign key is violated.
      .filter(([sql]) => !sql.startsWith('insert into "accounts"'))
      .flatMap(([sql, parameters]) => {
        const plan = file.all(`explain query plan ${sql}`, parameters).map(({ detail }) => String(detail));
        return plan
          .filter((step) =>
            /^SCAN (?!jsonb_each|batch\b|paged|part\b|\w+ VIRTUAL TABLE INDEX \d+:M|due|listed|members|times|pending|\(subquery|CONSTANT|\d+-ROW VALUES)/.test(
              step,
            ),
          )
          .map((step) => `${step}: ${sql}`);
      });
    // SQLite prefers these to a few IDs or addresses, although an account may have many such rows.
    const updates = own
      .filter(([sql]) => /^\s*update "?(?:answers|mails|orders|questions|reviews)\b/.test(sql))
      .flatMap(([sql, parameters]) =>
        file.all(`explain query plan ${sql}`, parameters).map(({ detail }) => `${String(detail)}: ${sql}`),
      )
      .filter((step) =>
        /^SEARCH (?:answers|mails|orders|questions|reviews) .*\(account_id=\?(?: AND state=\?)?\)/.test(step),
      );
    file.close();
    expect(updates).toEqual([]);
    expect(own.length).toBeGreaterThan(120);
    expect(scans).toEqual([]);
  } finally {
    await harness.close();
  }
});
