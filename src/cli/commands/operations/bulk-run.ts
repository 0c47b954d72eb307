import { ServiceError } from "../../../contract/errors.ts";
import type { OperationName } from "../../../contract/index.ts";
import { listAll } from "../../../service/listings.ts";
import { callOf, type Service } from "../../../service/service.ts";
import { countOf } from "../../../terminal/plural.ts";
import type { Row } from "../../../terminal/row-stream.ts";
import type { Context } from "../../program/context.ts";
import type { Flags, FlagValues } from "../../program/flag.ts";
import { confirmSelection, reportSkipped, type Skipped } from "../../program/selection.ts";

/** What a bulk action selects, and does with each record. */
export interface BulkSelection {
  /** The operation for one record, and the input field of its ID. */
  readonly operation: OperationName;
  readonly idField: string;
  /** Its other input fields. */
  readonly fieldsOf: (flags: FlagValues<Flags>) => Row;
  /** The list that filters select from, and the input that their flags make. */
  readonly list: OperationName;
  readonly queryOf: (flags: FlagValues<Flags>, nowMs: number) => Row;
  readonly noun: readonly [one: string, many: string];
  /** What the command does, and has done: `Hide`, `Hid`. */
  readonly verbs: readonly [imperative: string, past: string];
  /** The cells that describe a record of the list. */
  readonly describe: (record: Row) => readonly string[];
}

export interface BulkResult {
  readonly changed: readonly number[];
  readonly skipped: readonly Skipped[];
}

interface Selected {
  readonly id: number;
  readonly cells: readonly string[];
}

/** Changes records that were named by their IDs, or else those that match the filters, after confirmation. */
export async function runBulk(
  context: Context,
  bulk: BulkSelection,
  { ids, flags }: { readonly ids: readonly number[] | undefined; readonly flags: FlagValues<Flags> },
): Promise<BulkResult> {
  const { noun, verbs } = bulk;
  const query = bulk.queryOf(flags, context.io.clock());
  const selected = ids
    ? ids.map((id) => ({ id, cells: [String(id)] }))
    : await context.withService((service) => selectRecords(service, bulk, query));
  if (selected.length === 0) {
    context.messages.info(`No ${noun[1]} match.`);
    return { changed: [], skipped: [] };
  }
  const question = `${verbs[0]} ${countOf(selected.length, ...noun)}?`;
  await confirmSelection(context, { rows: selected.map(({ cells }) => cells), question });
  const result = await context.withService((service) => changeRecords(context, { service, bulk, flags }, selected));
  reportSkipped(context, result.skipped, noun);
  context.messages.info(`${verbs[1]} ${countOf(result.changed.length, ...noun)}.`);
  return result;
}

async function selectRecords(service: Service, { list, describe }: BulkSelection, query: Row): Promise<Selected[]> {
  const found: Selected[] = [];
  for await (const page of listAll(service, list, { input: query })) {
    found.push(...page.map((record) => ({ id: Number(record["id"]), cells: describe(record) })));
  }
  return found;
}

/** Changes one record after the other. If a call fails, reports how many were changed. */
async function changeRecords(
  { messages }: Context,
  {
    service,
    bulk,
    flags,
  }: { readonly service: Service; readonly bulk: BulkSelection; readonly flags: FlagValues<Flags> },
  selected: readonly Selected[],
): Promise<BulkResult> {
  const changed: number[] = [];
  const skipped: Skipped[] = [];
  const call = callOf(service, bulk.operation);
  for (const { id } of selected) {
    try {
      await call({ ...bulk.fieldsOf(flags), [bulk.idField]: id });
      changed.push(id);
    } catch (error) {
      const problem = findRefusal(error);
      if (problem === undefined) {
        messages.warn(
          `${bulk.verbs[1]} ${changed.length} of ${countOf(selected.length, ...bulk.noun)} before an error.`,
        );
        throw error;
      }
      skipped.push({ id, problem });
    }
  }
  return { changed, skipped };
}

/** Why a record is skipped; undefined if the error does not concern it alone. */
function findRefusal(error: unknown): string | undefined {
  if (!(error instanceof ServiceError)) return undefined;
  if (error.kind === "recordNotFound" && error.record !== undefined && error.record !== "Account") return "not found";
  return error.kind === "invalidParams" ? error.message : undefined;
}
