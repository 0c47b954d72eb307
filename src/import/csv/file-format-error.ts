/** A file that cannot be read as CSV at all; the message needs the file's name before it. */
export class FileFormatError extends Error {
  override readonly name = "FileFormatError";
  readonly hint: string | undefined;
  /** Where in the text it is, from 1; 0 where it is no one line. */
  readonly line: number;

  constructor(message: string, hint?: string, more: { line?: number; cause?: unknown } = {}) {
    super(message, { cause: more.cause });
    this.hint = hint;
    this.line = more.line ?? 0;
  }
}
