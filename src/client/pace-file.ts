import { createHash } from "node:crypto";
import { join } from "node:path";

/** The account that a rate limit applies to. */
export interface PacedAccount {
  /** The address of the service or the database. */
  readonly target: string;
  readonly appKey: string;
}

/** Returns the path of an account's pacing state and its lock file, without their extensions. */
export function paceFileOf(limitsFolder: string, { target, appKey }: PacedAccount): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([target, appKey]))
    .digest("hex");
  return join(limitsFolder, digest.slice(0, 32));
}
