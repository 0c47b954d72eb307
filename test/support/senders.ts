import type { Item } from "../../src/import/item.ts";
import { Heartbeat } from "../../src/import/run/heartbeat.ts";
import { Journal, readJournal, settle } from "../../src/import/run/journal.ts";
import { RunTally } from "../../src/import/run/tally.ts";
import { JournaledSender, type SendingDeps } from "../../src/import/send/sender.ts";
import { createService } from "../../src/service/service.ts";
import type { Transport } from "../../src/service/transport.ts";

/** A tally of one file with one column. */
export const createTally = (given = "a.csv") =>
  new RunTally([{ given, columnName: (field) => field, column: () => 0 }], undefined);

/** A service whose calls a function answers. */
export const serviceOf = (call: Transport["call"]) => createService({ call, close: async () => {} }, {});

/**
 * A sender that continues the journal at a path, and its journal.
 * @param call answers the calls of the service
 */
export function createSender(
  journalPath: string,
  call: Transport["call"],
  { behavior, ...more }: Partial<SendingDeps> & Pick<SendingDeps, "behavior">,
) {
  const settled = settle(readJournal(journalPath));
  const journal = new Journal(journalPath, () => 0);
  const sender = new JournaledSender({
    behavior,
    service: serviceOf(call),
    concurrency: 1,
    keepsOrder: false,
    isOnce: false,
    runId: "run",
    tally: createTally(),
    journal,
    heartbeat: new Heartbeat(journal, () => 0),
    settled,
    keys: undefined,
    clock: () => 0,
    abort: new AbortController().signal,
    report: () => {},
    ...more,
  });
  return { sender, journal };
}

/** An item of one row. */
export function itemOf(key: string, line: number, payload: unknown, cells: readonly string[] = [key]): Item {
  return { key, batchKey: "", rows: [{ file: 0, line, cells }], size: 10, payload };
}

/** A product as `itemOf` has it. */
export function productItemOf(key: string, name: string, line: number): Item {
  return itemOf(key, line, { name, url: "https://shop.example/p", price: "1", currency: "EUR" }, [key, name]);
}
