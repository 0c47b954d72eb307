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
