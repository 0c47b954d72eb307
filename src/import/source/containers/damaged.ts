import { FileFormatError } from "../../csv/file-format-error.ts";

/** The error for an archive whose contents contradict its directory. */
export function damaged(kind: "gzip" | "zip", cause?: unknown): FileFormatError {
  return new FileFormatError(
    `the ${kind} archive is damaged or incomplete`,
    "create or download it again; nothing was imported from it",
    { cause },
  );
}
