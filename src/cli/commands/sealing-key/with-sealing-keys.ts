import type { SealingKeyAdmin } from "../../../app/ports.ts";
import { requireLocalProfile } from "../../program/local-profile.ts";
import type { Context } from "../../program/context.ts";

/** @throws UserError `usage` if the profile is remote */
export async function withSealingKeys<T>(context: Context, work: (keys: SealingKeyAdmin) => Promise<T>): Promise<T> {
  const hint = "Run the command on the server, or use --profile local.";
  const profile = await requireLocalProfile(context, "its service has its own sealing key", hint);
  const { openSealingKeys } = await context.io.loadApp();
  const keys = await openSealingKeys(await context.host(), profile);
  try {
    return await work(keys);
  } finally {
    await keys.close();
  }
}
