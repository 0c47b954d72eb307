import { setTimeout } from "node:timers/promises";
import { type Check, ok, skipped, warning } from "../check.ts";
import type { HostContext } from "../../app/ports.ts";
import { findLockHolders } from "../../storage/sqlite/lock-holders.ts";

/** Who has a database open, and who has been writing to it all the while. */
export interface SeenWriter {
  /** Nothing where nobody can tell. */
  readonly open: readonly string[] | undefined;
  readonly writer: { readonly name: string; readonly forMs: number } | undefined;
}

const name = "database-lock";

/** A writer is watched for so long; a transaction takes a fraction of it. */
const watch = { forMs: 1_500, everyMs: 100 } as const;

/** Who holds the lock for longer than this holds others up. */
const longMs = 1_400;

/** Watches who writes to a SQLite file, for as long as it is the same process. */
export async function watchWriter(path: string, { clock }: Pick<HostContext, "clock">): Promise<SeenWriter> {
  const beganMs = clock();
  const first = await findLockHolders(path);
  const open = first?.open.map(({ name: program, pid }) => `${program} (process ${pid})`);
  const writer = first?.writer;
  if (!writer) return { open, writer: undefined };
  for (;;) {
    const forMs = clock() - beganMs;
    if (forMs >= watch.forMs)
      return { open, writer: { name: `${writer.name} (process ${writer.pid})`, forMs } };
    await setTimeout(watch.everyMs);
    const again = await findLockHolders(path);
    if (again?.writer?.pid !== writer.pid) return { open, writer: undefined };
  }
}

/** Who holds the write lock of a server's database. */
export function judgeServerWriter(writer: SeenWriter["writer"]): Check {
  return writer && writer.forMs >= longMs
    ? judgeWriter({ open: undefined, writer }, false)
    : ok(name, "nobody holds the write lock for long");
}

/** @param isLocked whether even reading was refused */
export function judgeWriter({ open, writer }: SeenWriter, isLocked: boolean): Check {
  if (writer && (isLocked || writer.forMs >= longMs)) {
    const message = `${writer.name} has held the write lock for ${(writer.forMs / 1_000).toFixed(1)} s and more`;
    return warning(
      name,
      message,
      "Wait until it is done, or end that process; what it has not committed is taken back.",
    );
  }
  if (isLocked) {
    return warning(
      name,
      "another process holds the database locked",
      "See which programs have the file open, and end the one that is stuck.",
    );
  }
  if (open === undefined) return skipped(name, "this system does not tell who has the file open");
  if (open.length === 0) return ok(name, "nobody else has it open");
  return ok(
    name,
    `open in ${open.slice(0, 5).join(", ")}${open.length > 5 ? ", and more" : ""}; nobody holds the write lock for long`,
  );
}
