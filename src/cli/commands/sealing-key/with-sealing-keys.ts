import type { SealingKeyAdmin } from "../../../app/ports.ts";
import { usageError } from "../../../config/user-error.ts";
import type { Context } from "../../program/context.ts";

/** @throws UserError `usage` if the profile is remote */
export async function withSealingKeys<T>(context: Context, work: (keys: SealingKeyAdmin) => Promise<T>): Promise<T> {
  const profile = await context.profile();
  if (profile.mode !== "local") {
    throw usageError(
      `profile ${profile.name} is remote; its service has its own sealing key`,
      "Run the command on the server, or use --profile local.",
    );
  }
  const { openSealingKeys } = await context.io.loadApp();
  const keys = await openSealingKeys(await context.host(), profile);
  try {
    return await work(keys);
  } finally {
    await keys.close();
  }
}
