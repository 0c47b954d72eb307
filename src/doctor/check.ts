/** How one thing stands: `warning` works and may not for long, `problem` does not work, `skipped` could not be looked at. */
export type CheckStatus = "ok" | "warning" | "problem" | "skipped";

/** One thing that was looked at. */
export interface Check {
  /** The same in every version: scripts look for it. */
  readonly name: string;
  readonly status: CheckStatus;
  /** What was found. */
  readonly message: string;
  /** What to do about it, where there is something. */
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

export function skipped(name: string, why: string): Check {
  return { name, status: "skipped", message: why };
}

/** A failure as a check: its own words, and its own hint. */
export function failed(name: string, error: unknown, fix: string): Check {
  const { message, hint } = error as { readonly message?: string; readonly hint?: string | undefined };
  return problem(name, message ?? String(error), hint ?? fix);
}
