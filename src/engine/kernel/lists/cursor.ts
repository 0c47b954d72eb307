import { invalidField } from "../../../contract/index.ts";

/** The `page_info` of the page after a record, from the numbers that a list is sorted by. */
export function writeCursor(position: readonly number[]): string {
  return Buffer.from(position.join(".")).toString("base64url");
}

/**
 * Reads the numbers of a `page_info`.
 * @throws ServiceError `invalidParams`
 */
export function readCursor(text: string, count: number): readonly number[] {
  const parts = Buffer.from(text, "base64url").toString("latin1").split(".");
  const isValid = parts.length === count && parts.every((part) => /^\d{1,15}$/.test(part));
  if (!isValid) throw invalidField("page_info", "is invalid");
  return parts.map(Number);
}
