import type { Readable } from "node:stream";
import type { ReportEvent } from "./events.ts";
import type { ImportKinds } from "./kinds.ts";

/** What reading files and recording runs needs from its caller. */
export interface ImportContext {
  /** The record kinds, by which a recorded run finds its own. */
  readonly kinds: ImportKinds;
  readonly profileName: string;
  /** The account of the profile: an address and an app key, or a database. A run continues only where it began. */
  readonly target: string;
  readonly runsFolder: string;
  readonly clock: () => number;
  readonly random: (bytes: number) => Buffer;
  readonly stdin: Readable;
  readonly cwd: string;
  readonly version: string;
  /** The first signal: requests in flight are finished. */
  readonly stop: AbortSignal;
  /** The second signal: everything ends at once. */
  readonly abort: AbortSignal;
  readonly report: ReportEvent;
}
