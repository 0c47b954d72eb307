import { secretFileOf } from "../../../config/secret-file.ts";
import type { Context } from "../../program/context.ts";
import { findRecord, type ProfileRecord } from "./records.ts";

/** A profile, and the file that contains its secret, if any. */
export async function showProfile(
  context: Context,
  name: string | undefined,
): Promise<ProfileRecord & { readonly secret_file: string | null }> {
  const record = await findRecord(context, name);
  const { paths } = await context.profileSources();
  return { ...record, secret_file: record.secret_in === "file" ? secretFileOf(paths.configFolder) : null };
}
