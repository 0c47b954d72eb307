import type { ImportSummary } from "./summary.ts";

type ErrorDetails = Partial<Pick<ImportError, "hint" | "summary" | "misnamed" | "quotesCells" | "cause">>;

/** An import that could not start or continue; `summary` is set if a run exists. */
export class ImportError extends Error {
  override readonly name = "ImportError";
  readonly kind: "usage" | "temporary" | "auth" | "failed";
  readonly hint: string | undefined;
  readonly summary: ImportSummary | undefined;
  /** An unknown name, and the known ones. */
  readonly misnamed: { readonly given: string; readonly known: readonly string[] } | undefined;
  /** Whether the message quotes cells, which may be personal data. */
  readonly quotesCells: boolean;

  constructor(kind: ImportError["kind"], message: string, more: ErrorDetails = {}) {
    super(message, { cause: more.cause });
    this.kind = kind;
    this.hint = more.hint;
    this.summary = more.summary;
    this.misnamed = more.misnamed;
    this.quotesCells = more.quotesCells ?? false;
  }
}

/** The error for a flag, a file, or an ID that the person must correct. */
export function usageError(
  message: string,
  hint?: string,
  more: Omit<ErrorDetails, "hint" | "summary"> = {},
): ImportError {
  return new ImportError("usage", message, { ...more, hint });
}

/** A file that cannot be read as CSV; the message is preceded by the file's name. */
export class FileFormatError extends Error {
  override readonly name = "FileFormatError";
  readonly hint: string | undefined;
  /** The line, from 1; 0 if the error concerns no single line. */
  readonly line: number;

  constructor(message: string, hint?: string, more: { line?: number; cause?: unknown } = {}) {
    super(message, { cause: more.cause });
    this.hint = hint;
    this.line = more.line ?? 0;
  }
}
