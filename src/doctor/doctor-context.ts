import type { Environment } from "../config/environment.ts";
import type { Paths } from "../config/paths.ts";
import type { Profile } from "../config/profile.ts";

/** What the checks need from the program. */
export interface DoctorContext {
  readonly paths: Paths;
  readonly env: Environment;
  readonly cwd: string;
  readonly clock: () => number;
  /** The running version of Node.js, and the range that the package requires. */
  readonly node: { readonly version: string; readonly required: string };
  /** The value of `--profile`. */
  readonly profileFlag: string | undefined;
  readonly timeoutMs: number;
  resolveProfile(): Promise<Profile>;
  /** Connects to the configured mail server without sending anything. */
  checkEmailTransport(): Promise<
    { readonly ready: true } | { readonly ready: false; readonly problem: string }
  >;
  /** The program that inspects a SQLite file in a separate process. */
  findDatabaseProbe(): Promise<URL>;
}
