import { resolve } from "node:path";
import type { LocalProfile } from "../../../config/profile.ts";
import type { Context } from "../../program/context.ts";
import { requireLocalProfile } from "../../program/local-profile.ts";
import { listenForStop } from "../../program/stop-signals.ts";

/** @throws UserError `usage` if the profile is remote */
export function requireDatabase(context: Context): Promise<LocalProfile> {
  const hint = "Run the command on the server, or use --profile local.";
  return requireLocalProfile(context, "only a local profile has a database", hint);
}

export function resolveFile({ io }: Context, file: string): string {
  return resolve(io.cwd, file);
}

/** Runs work that a signal interrupts, so that it can delete its temporary files. */
export async function untilStopped<T>({ io }: Context, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signals = listenForStop(io, { isUnlimited: true });
  try {
    return await work(signals.stop);
  } finally {
    signals.release();
  }
}
