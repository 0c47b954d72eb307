import { readVariable } from "../config/environment.ts";
import type { Profile } from "../config/profile.ts";
import { type Check, ok } from "./check.ts";
import type { Context } from "../cli/program/context.ts";

/** Says which profile is used, and by what it was chosen. */
export async function checkProfile(context: Context, profile: Profile): Promise<Check> {
  const { name } = profile;
  const what =
    profile.mode === "local"
      ? `the embedded engine over ${profile.shownAs}`
      : `${profile.baseUrl} as ${profile.appKey}`;
  return ok("profile", `${name}: ${what}; ${findSource(context, profile)}`);
}

function findSource({ globals, io }: Context, { name, mode }: Profile): string {
  if (globals.profile !== undefined) return "by --profile";
  if (mode === "remote" && name === "env")
    return "by STARPOST_BASE_URL, STARPOST_APP_KEY and STARPOST_SECRET";
  if (readVariable(io.env, "STARPOST_PROFILE") !== undefined) return "by STARPOST_PROFILE";
  return name === "local" ? "since nothing names another" : "the current one";
}
