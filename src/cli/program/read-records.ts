import { failedError, invalidValue } from "../../config/user-error.ts";
import type { OperationName } from "../../contract/index.ts";
import { ServiceError } from "../../contract/errors.ts";
import type { Context } from "./context.ts";
import { readWholeNumber } from "./flag-values.ts";
import { listHints } from "./errors/failure.ts";

/** The flag for the length of a list. */
export const limitFlag = {
  value: "<n>",
  description: "maximum number of results",
  default: 20,
  read: readWholeNumber,
} as const;

/**
 * Reads a list with one call, which also reads the record after the limit.
 * @param page the sizes of a page of the operation
 * @throws UserError `usage`
 */
export async function readLimited<T>(
  { messages }: Pick<Context, "messages">,
  { limit, page, operation, noun }: LimitedList,
  read: (count: number) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  if (limit >= page.max) {
    const hint = `For longer lists, run \`starpost api ${operation} --limit <n>\`.`;
    throw invalidValue(String(limit), "--limit", `at most ${page.max - 1}`, hint);
  }
  const found = await read(limit + 1);
  if (found.length > limit) messages.info(`Showing ${limit} ${noun}. To see more, use --limit.`);
  return found.slice(0, limit);
}

interface LimitedList {
  readonly limit: number;
  readonly page: { readonly max: number };
  readonly operation: OperationName;
  readonly noun: string;
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
