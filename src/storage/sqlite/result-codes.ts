/** Source: sqlite.org/rescode.html */
export const resultCodes = {
  error: 1,
  busy: 5,
  tableLocked: 6,
  readOnly: 8,
  io: 10,
  damaged: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
} as const;

/** The result code of an error of the driver, without its details. */
export function readResultCode(error: unknown): number | undefined {
  const { errcode } = error as { readonly errcode?: unknown };
  return typeof errcode === "number" ? errcode & 0xff : undefined;
}
