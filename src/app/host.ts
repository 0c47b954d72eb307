import type { Environment } from "../config/environment.ts";
import type { Paths } from "../config/paths.ts";

/** The machine and environment that the program runs in. */
export interface HostContext {
  readonly paths: Paths;
  readonly env: Environment;
  readonly clock: () => number;
  readonly random: (bytes: number) => Buffer;
}
