/** An unknown name, and the known ones, from which a suggestion can be derived. */
export interface Misnamed {
  readonly given: string;
  readonly known: readonly string[];
}

/**
 * An error that the user can fix: a setting, a flag, a file. Not a refused call, and not a bug.
 * `usage`: invalid input; `auth`: missing or rejected credentials; `interrupted`: stopped by the user or a signal;
 * `failed`: everything else.
 */
export class UserError extends Error {
  override readonly name = "UserError";
  readonly kind: "usage" | "auth" | "interrupted" | "failed";
  /** What the user can do about it. */
  readonly hint: string | undefined;
  readonly misnamed: Misnamed | undefined;

  constructor(kind: UserError["kind"], message: string, hint?: string, cause?: unknown, misnamed?: Misnamed) {
    super(message, { cause });
    this.kind = kind;
    this.hint = hint;
    this.misnamed = misnamed;
  }
}

/** An error of kind `usage`: invalid input. */
export function usageError(message: string, hint?: string, cause?: unknown, misnamed?: Misnamed): UserError {
  return new UserError("usage", message, hint, cause, misnamed);
}

export function failedError(message: string, hint?: string, cause?: unknown): UserError {
  return new UserError("failed", message, hint, cause);
}

/** The error for the value of a flag, an argument, or a variable: `invalid value "x" for --y: must be z`. */
export function invalidValue(given: string, source: string, wanted: string, hint?: string): UserError {
  return usageError(`invalid value ${JSON.stringify(given)} for ${source}: must be ${wanted}`, hint);
}

const systemReasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "read-only file system",
  ENOSPC: "the disk is full",
  ENOTDIR: "a part of the path is not a folder",
  EEXIST: "a part of the path is not a folder",
  EISDIR: "is a folder",
  ENAMETOOLONG: "the name is too long",
  ENOENT: "does not exist",
};

/** Converts an error of the file system. Returns any other error unchanged. */
export function toFileError(error: unknown, path: string, hint?: string): unknown {
  const code = codeOf(error);
  const reason = code && systemReasons[code];
  return reason ? new UserError("failed", `${path}: ${reason}`, hint, error) : error;
}

/** Converts an error about a file that the user has named. One that does not exist is a usage error. */
export function toInputError(error: unknown, path: string): unknown {
  const found = toFileError(error, path);
  const isMisnamed = ["ENOENT", "ENOTDIR", "EISDIR"].includes(codeOf(error) ?? "");
  return isMisnamed && found instanceof UserError ? usageError(found.message, undefined, error) : found;
}

/** The system error code, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : undefined;
}
