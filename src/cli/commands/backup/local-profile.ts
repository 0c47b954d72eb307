import { resolve } from "node:path";
import type { LocalProfile } from "../../../config/profile.ts";
import { usageError } from "../../../config/user-error.ts";
import type { Context } from "../../program/context.ts";
import { listenForStop } from "../../program/stop-signals.ts";

/** @throws UserError `usage` if the profile is remote */
export async function requireLocalProfile(context: Context): Promise<LocalProfile> {
  const profile = await context.profile();
  if (profile.mode === "local") return profile;
  throw usageError(
    `profile ${profile.name} is remote; only a local profile has a database`,
    "Run the command on the server, or use --profile local.",
  );
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
