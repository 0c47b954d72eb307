import { createHash } from "node:crypto";
import { join } from "node:path";

/** What a limit belongs to. */
export interface PacedAccount {
  /** The service's address, or the database's. */
  readonly target: string;
  readonly appKey: string;
}

/** Where the pace towards an account is kept, without the endings of its two files. */
export function paceFileOf(limitsFolder: string, { target, appKey }: PacedAccount): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([target, appKey]))
    .digest("hex");
  return join(limitsFolder, digest.slice(0, 32));
}
