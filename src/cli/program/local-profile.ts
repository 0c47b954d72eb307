import type { LocalProfile } from "../../config/profile.ts";
import { usageError } from "../../config/user-error.ts";
import type { Context } from "./context.ts";

/**
 * @param reason why a remote profile does not work: "only a local profile has a database"
 * @throws UserError `usage` if the profile is remote
 */
export async function requireLocalProfile(context: Context, reason: string, hint: string): Promise<LocalProfile> {
  const profile = await context.profile();
  if (profile.mode === "local") return profile;
  throw usageError(`profile ${profile.name} is remote; ${reason}`, hint);
}
