/** A name that is not known, and those that are: whoever tells of the error may guess which was meant. */
export interface Misnamed {
  readonly given: string;
  readonly known: readonly string[];
}

/**
 * What a person has to put right: a setting, a flag, a file. Not a refused call and not a bug.
 * `usage`: asked for wrongly; `auth`: no credentials, or none that serve; `interrupted`: broken off by a person or a
 * signal; `failed`: everything else.
 */
export class UserError extends Error {
  override readonly name = "UserError";
  readonly kind: "usage" | "auth" | "interrupted" | "failed";
  /** What the person can do about it. */
  readonly hint: string | undefined;
  readonly misnamed: Misnamed | undefined;

  constructor(kind: UserError["kind"], message: string, hint?: string, cause?: unknown, misnamed?: Misnamed) {
    super(message, { cause });
    this.kind = kind;
    this.hint = hint;
    this.misnamed = misnamed;
  }
}

const systemReasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  ENOTDIR: "a part of the path is not a folder",
  EEXIST: "a part of the path is not a folder",
  EISDIR: "it is a folder",
  ENAMETOOLONG: "the name is too long",
  ENOENT: "it is not there",
};

/** Words a failure of the file system; any other error is given back as it is. */
export function toFileError(error: unknown, path: string, hint?: string): unknown {
  const code = codeOf(error);
  const reason = code && systemReasons[code];
  return reason ? new UserError("failed", `${path}: ${reason}`, hint, error) : error;
}

/** The system's own code of an error (`ENOENT`), where it has one. */
export function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : undefined;
}
