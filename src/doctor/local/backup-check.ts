import { existsSync } from "node:fs";
import { readRecords } from "../../backup/records.ts";
import type { LocalProfile } from "../../config/profile.ts";
import { formatDuration } from "../../terminal/plural.ts";
import { type Check, type DoctorContext, ok, skipped, warning } from "../check.ts";

const name = "backup";

/** An older backup is reported if there is no schedule, in milliseconds. */
const maxAgeMs = 7 * 24 * 60 * 60 * 1_000;

/** Checks the age of the newest backup of the database that was made on this machine, and the schedule. */
export async function checkBackups(
  { paths, clock }: Pick<DoctorContext, "paths" | "clock">,
  { shownAs }: Pick<LocalProfile, "shownAs">,
): Promise<Check> {
  const { backups, schedules } = await readRecords(paths);
  const last = backups.findLast(({ database }) => database === shownAs);
  const schedule = schedules[shownAs];
  if (schedule?.error) {
    const message = `the scheduled backup failed at ${schedule.tried_at}: ${schedule.error}`;
    return warning(name, message, "Correct the cause; the server tries again. Or run `starpost backup create`.");
  }
  if (!last) return skipped(name, "no backup was made with starpost on this machine");
  const ageMs = clock() - Date.parse(last.created_at);
  const message = `the newest backup is ${formatDuration(ageMs)} old: ${last.file}${existsSync(last.file) ? "" : " (moved or deleted)"}`;
  const limitMs = schedule ? 2 * schedule.every_ms : maxAgeMs;
  if (ageMs <= limitMs) return ok(name, message);
  const fix = schedule ? "Check that the server with --backup-every is running." : "Run `starpost backup create`.";
  return warning(name, message, fix);
}
