import { FileFormatError } from "../../csv/file-format-error.ts";

/** An archive of which no part can be relied on, since what it holds is not what it says. */
export function damaged(kind: "gzip" | "zip", cause?: unknown): FileFormatError {
  return new FileFormatError(
    `the ${kind} archive is damaged or cut off`,
    "make it or fetch it once more: nothing of it was imported",
    { cause },
  );
}
