import type { Environment } from "../config/environment.ts";
import type { Paths } from "../config/paths.ts";
import type { Profile } from "../config/profile.ts";
import type { OnTrace } from "../service/trace.ts";

/**
 * `warning`: works now, but may not for long; `problem`: does not work; `skipped`: could not be checked, or does not
 * apply.
 */
export type CheckStatus = "ok" | "warning" | "problem" | "skipped";

export interface Check {
  /** Stable across versions, because scripts rely on it. */
  readonly name: string;
  readonly status: CheckStatus;
  readonly message: string;
  /** What to do about it: a sentence or a shell command. */
  readonly fix?: string;
}

export function ok(name: string, message: string): Check {
  return { name, status: "ok", message };
}

export function warning(name: string, message: string, fix: string): Check {
  return { name, status: "warning", message, fix };
}

export function problem(name: string, message: string, fix: string): Check {
  return { name, status: "problem", message, fix };
}

export function skipped(name: string, reason: string): Check {
  return { name, status: "skipped", message: reason };
}

export function skipAll(names: readonly string[], reason: string): Check[] {
  return names.map((name) => skipped(name, reason));
}

/** Reports an error as a problem. An error's own hint takes precedence over `fix`. */
export function failed(name: string, error: unknown, fix: string): Check {
  const { message, hint } = error as { readonly message?: string; readonly hint?: string | undefined };
  const advice = hint ?? fix;
  return problem(name, message ?? String(error), advice.charAt(0).toUpperCase() + advice.slice(1));
}

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
  /** Receives every request to a remote service. */
  readonly onTrace?: OnTrace | undefined;
  resolveProfile(): Promise<Profile>;
  /** Connects to the configured mail server without sending anything. */
  checkEmail(): Promise<{ readonly ready: true } | { readonly ready: false; readonly problem: string }>;
  /** Compares the DKIM key with DNS. Returns undefined without a key. */
  checkDkim(): Promise<{ readonly name: string; readonly state: string; readonly problem: string | null } | undefined>;
  /** The program that inspects a SQLite file in a separate process. */
  findDatabaseProbe(): Promise<URL>;
}
