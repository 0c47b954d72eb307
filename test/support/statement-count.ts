import { Client } from "pg";
import { expect, vi } from "vitest";
import { SqliteFile } from "../../src/storage/sqlite/sqlite-file.ts";

/** Returns the SQL of the statements that both databases execute during `work`, in order. */
export async function recordStatements(work: () => Promise<unknown>): Promise<readonly string[]> {
  const spies = [
    vi.spyOn(SqliteFile.prototype, "run"),
    vi.spyOn(SqliteFile.prototype, "all"),
    vi.spyOn(Client.prototype, "query"),
  ];
  try {
    await work();
    return spies.flatMap(({ mock }) =>
      mock.calls.map(([query]: readonly unknown[]) =>
        typeof query === "string" ? query : String((query as { readonly text?: unknown } | undefined)?.text),
      ),
    );
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

/** Expects that calls of the current test were combined. Over HTTP, they may arrive one after another. */
export function expectCombined(statements: number, calls: number): void {
  if (expect.getState().currentTestName?.includes("'remote-") !== true) expect(statements).toBeLessThan(calls);
}
