import { readRecords } from "../../backup/records.ts";
import type { LocalProfile } from "../../config/profile.ts";
import { dayMs } from "../../contract/time.ts";
import { formatBytes } from "../../terminal/plural.ts";
import { type Check, type DoctorContext, ok, skipped, warning } from "../check.ts";

const name = "database-growth";

/** Backups record the size of the database. The growth is measured from the oldest of this period, in milliseconds. */
const period = { min: dayMs, max: 30 * dayMs } as const;

/** Less time than this until the disk is full is a warning, in days. */
const minDaysLeft = 30;

/**
 * Estimates when the disk is full, from the sizes that backups recorded.
 * @param freeBytes undefined if the disk is that of a server
 */
export async function checkGrowth(
  { paths, clock }: Pick<DoctorContext, "paths" | "clock">,
  { shownAs }: Pick<LocalProfile, "shownAs">,
  { bytes, freeBytes }: { readonly bytes: number; readonly freeBytes: number | undefined },
): Promise<Check> {
  const nowMs = clock();
  const { backups } = await readRecords(paths);
  const ages = backups.flatMap(({ database, database_size: size, created_at }) =>
    database === shownAs && size !== undefined ? [{ size, ageMs: nowMs - Date.parse(created_at) }] : [],
  );
  const base = ages.find(({ ageMs }) => ageMs >= period.min && ageMs <= period.max);
  if (!base) return skipped(name, "measured from the newest 30 days of backups; none is at least a day old");
  const days = base.ageMs / dayMs;
  const perDay = (bytes - base.size) / days;
  const measured = `in the last ${days.toFixed(1)} days`;
  if (perDay <= 0) return ok(name, `did not grow ${measured}`);
  const growth = `grew by ${formatBytes(Math.round(perDay))} per day ${measured}`;
  if (freeBytes === undefined) return ok(name, `${growth}; the server does not report its free space`);
  const daysLeft = Math.floor(freeBytes / perDay);
  const fullOn = new Date(nowMs + daysLeft * dayMs);
  // A later day is of no use, and may not be a valid date.
  if (daysLeft > 3_650) return ok(name, `${growth}; at this rate, the disk is not full for ten years`);
  const message = `${growth}; at this rate, the disk is full in ${daysLeft} days (${fullOn.toISOString().slice(0, 10)})`;
  if (daysLeft >= minDaysLeft) return ok(name, message);
  return warning(
    name,
    message,
    "Add disk space. `account set --retain-emails` and `starpost imports purge` free some.",
  );
}
