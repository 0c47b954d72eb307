import type { Connection } from "../../app/ports.ts";
import { failedError } from "../../config/user-error.ts";
import type { OperationName } from "../../contract/index.ts";
import { ServiceError } from "../../contract/errors.ts";
import { countOf } from "../../terminal/plural.ts";
import { type Row, RowLimit, RowStream } from "../../terminal/row-stream.ts";
import type { Context } from "./context.ts";
import { shownInTable } from "./flag-values.ts";
import { isForScripts } from "./global-flags.ts";
import { checkColumns } from "./output/print.ts";
import { listHints } from "./errors/failure.ts";

/** The maximum number of results. @param shown that of a table by default */
export function findLimit(
  { globals }: Pick<Context, "globals">,
  limit: number | undefined,
  shown = shownInTable,
): number | undefined {
  return limit ?? (globals.format === "table" ? shown : undefined);
}

/** Reports that a list has more than its limit. */
export function reportLimit({ messages }: Pick<Context, "messages">, limit: number): void {
  messages.warn(`Showing the first ${countOf(limit, "result")}. To see more, use --limit.`);
}

/** A list that an operation returns in pages. */
interface RecordList {
  readonly operation: OperationName;
  readonly input: Row;
  readonly limit: number | undefined;
}

type Shown = Omit<ConstructorParameters<typeof RowStream>[1], "limit">;

/** Reads a list page by page. The connection is closed at its end. */
export function listRecords<R extends Row>(
  connection: Connection,
  { operation, input, limit }: RecordList,
  shown: Shown,
  toRow?: (record: R) => Row,
): RowStream {
  async function* read() {
    try {
      const { listAll } = await import("../../service/listings.ts");
      // One more, to find out whether there are more.
      const request = { input, limit: limit === undefined ? undefined : limit + 1 };
      for await (const page of listAll<R>(connection.service, operation, request)) {
        yield toRow ? page.map(toRow) : page;
      }
    } finally {
      await connection.close();
    }
  }
  const cut = limit === undefined ? undefined : new RowLimit(limit);
  return new RowStream(cut ? cut.cut(read()) : read(), { ...shown, limit: cut });
}

/** Lists records with columns of their own in tables and CSV. @throws UserError `usage` for an unknown column */
export async function openList<R extends Row>(
  context: Pick<Context, "globals" | "connect">,
  list: RecordList,
  shown: Shown & { readonly allColumns: readonly string[] },
  toRow: (record: R) => Row,
): Promise<RowStream> {
  const { columns, format } = context.globals;
  checkColumns(columns, shown.allColumns);
  const limit = findLimit(context, list.limit);
  return listRecords(await context.connect(), { ...list, limit }, shown, isForScripts(format) ? undefined : toRow);
}

const labels = {
  Campaign: "campaign",
  Mail: "email",
  Order: "order",
  Webhook: "webhook",
  Delivery: "delivery",
} as const;

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
