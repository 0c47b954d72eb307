import { failedError, usageError } from "../../config/user-error.ts";
import type { OperationName } from "../../contract/index.ts";
import { ServiceError } from "../../contract/errors.ts";
import { listHints } from "./errors/failure.ts";

/**
 * Checks --limit of a list that is read with one call, which also reads the record after the limit.
 * @throws UserError `usage`
 */
export function checkLimit(limit: number, { max }: { readonly max: number }, operation: OperationName): void {
  if (limit < max) return;
  throw usageError(
    `invalid value "${limit}" for --limit: must be at most ${max - 1}`,
    `For longer lists, run \`starpost api ${operation} --limit <n>\`.`,
  );
}

const labels = { Mail: "email", Order: "order", Webhook: "webhook", Delivery: "delivery" } as const;

/**
 * Makes a call about one record.
 * @throws UserError `failed` if the account has no record with this ID
 */
export async function aboutOne<T>(
  record: keyof typeof labels,
  id: number | string,
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const isGone = error instanceof ServiceError && error.kind === "recordNotFound" && error.record === record;
    if (!isGone) throw error;
    throw failedError(`${labels[record]} ${id} not found`, listHints[record], error);
  }
}
