import { searchUnsubscribers } from "./unsubscriber-search.ts";
import { announceUnsubscriptions } from "./unsubscription.ts";
import { sql } from "kysely";
import {
  actorNames,
  type contract,
  emailKeyOf,
  isEmailTypeId,
  type ItemOutcome,
  outcomeOf,
  shape,
  unsubscriberErrorTexts,
  unsubscriberPageDefault,
} from "../../contract/index.ts";
import { batchOf, batchRows } from "../../storage/batch.ts";
import { createDeferredStatement, createStatement } from "../../storage/statement.ts";
import type { Row } from "../../storage/tables.ts";
import { requireFeature } from "../accounts/account-settings.ts";
import { deleteAccountRows, selectAccountRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext, type Handlers, operation } from "../kernel/handler.ts";

interface AddressError {
  readonly value: string;
  readonly error: string;
}

interface BulkInput {
  readonly email_list: Readonly<Record<string, readonly string[]>>;
  readonly async?: boolean | undefined;
  readonly validate_data?: boolean | undefined;
  readonly details?: boolean | undefined;
}

export const unsubscriberHandlers: Handlers<typeof contract.unsubscribers> = {
  /**
   * Unsubscribes addresses, and returns their records.
   * Assumed: addresses that are already unsubscribed, by the store or by their owner, are not changed.
   */
  massCreate: operation("unsubscribers.massCreate", {
    // The outcomes of a call depend on the addresses before it, so calls that ask for them are handled alone.
    combines: ({ email_list, details }) => details !== true && Object.values(email_list).flat().length <= maxCombined,
    runMany: createUnsubscribers,
  }),

  /**
   * Removes unsubscribed addresses, also those whose owners unsubscribed, and returns the removed records.
   * Source: spec "States and transitions". Assumed: unknown addresses are ignored.
   */
  massDelete: async (input, context) => {
    await requireFeature(context, "unsubscribers");
    const { addresses, errors } = parseAddresses(input);
    const found = await findAddresses(addresses, context);
    await deleteAddresses(found, context);
    const outcomes = listOutcomes(input, found, { ifNew: "unchanged", ifStored: "changed" });
    return createOutput(input, { unsubscribers: found.map(toRecord), errors, outcomes });
  },

  /** Assumed: addresses are sorted by ID; `page` starts at 1; `count` defaults to 5,000. */
  list: async ({ count = unsubscriberPageDefault, page = 1 }, context) => {
    await requireFeature(context, "unsubscribers");
    const offset = Math.min((Math.max(page, 1) - 1) * count, Number.MAX_SAFE_INTEGER);
    const found = await selectUnsubscribers({ count, offset }, context).execute();
    return { unsubscribers: found.map(toRecord) };
  },

  search: searchUnsubscribers,
};

/** The most addresses of a call that is handled together with others. */
const maxCombined = 10;

/** Unsubscribes the addresses of several calls with a constant number of statements. */
async function createUnsubscribers(inputs: readonly BulkInput[], context: HandlerContext) {
  const calls = inputs.map((input) => ({ input, ...parseAddresses(input) }));
  const addresses = calls.flatMap((call) => call.addresses);
  const needsStored = inputs.some(({ details }) => details === true);
  let before: readonly Found[] = [];
  await context.dialect.runAll([
    () => requireFeature(context, "unsubscribers"),
    ...(needsStored ? [async () => void (before = await findAddresses(addresses, context))] : []),
  ]);
  await insertUnsubscribers(addresses, actorNames.store, context);
  const found = inputs.every((input) => input.async) ? [] : await findAddresses(addresses, context);
  return calls.map(({ input, errors, ...call }) => {
    const own = new Set(call.addresses.map(([typeId, email]) => keyOf(typeId, email)));
    const unsubscribers = found.filter((one) => own.has(keyOf(one.email_type_id, one.email))).map(toRecord);
    const outcomes = listOutcomes(input, before, { ifNew: "created", ifStored: "unchanged" });
    return createOutput(input, { unsubscribers, errors, outcomes });
  });
}

/** The query for a page. Rows before the page are skipped using only the account's index of IDs. */
export function selectUnsubscribers(
  { count, offset }: { readonly count: number; readonly offset: number },
  context: HandlerContext,
) {
  const listed = selectAccountRows("unsubscribers", accountOf(context).id, context.transaction).orderBy("id");
  return listed
    .select(["id", "email", "email_type_id", "by_name"])
    .where("id", ">=", listed.select("id").limit(1).offset(offset))
    .limit(count);
}

const keyOf = (typeId: string | number, email: string) => `${typeId} ${emailKeyOf(email)}`;

type Address = [email_type_id: number, email: string, email_key: string];

/** Assumed: addresses are compared by their keys; an invalid type ID is reported once, not for each address. */
function parseAddresses({ email_list }: BulkInput): { addresses: Address[]; errors: AddressError[] } {
  const addresses = new Map<string, Address>();
  const errors: AddressError[] = [];
  for (const [typeId, emails] of Object.entries(email_list)) {
    if (!isEmailTypeId(typeId)) {
      errors.push({ value: typeId, error: unsubscriberErrorTexts.emailType });
      continue;
    }
    for (const email of emails) {
      if (shape.email.safeParse(email).success) {
        const key = emailKeyOf(email);
        const address = `${typeId} ${key}`;
        // As in several calls, the first spelling stays.
        if (!addresses.has(address)) addresses.set(address, [Number(typeId), email, key]);
      } else {
        errors.push({ value: email, error: unsubscriberErrorTexts.email });
      }
    }
  }
  return { addresses: [...addresses.values()], errors };
}

interface OutcomeRules {
  /** The outcome of an address that was not stored before the call, and of one that was. */
  readonly ifNew: ItemOutcome["outcome"];
  readonly ifStored: ItemOutcome["outcome"];
}

/** One outcome per address, by type ID and then in the order sent; a repeated address is unchanged. */
function listOutcomes({ email_list }: BulkInput, before: readonly Found[], rules: OutcomeRules): ItemOutcome[] {
  const stored = new Set(before.map((one) => keyOf(one.email_type_id, one.email)));
  const met = new Set<string>();
  const drop = (field: string, error: string) => outcomeOf("dropped", { dropped: [{ field, error }] });
  return Object.entries(email_list).flatMap(([typeId, emails]) =>
    emails.map((email) => {
      const key = keyOf(typeId, email);
      if (!isEmailTypeId(typeId)) return drop("email_type_id", unsubscriberErrorTexts.emailType);
      if (!shape.email.safeParse(email).success) return drop("email", unsubscriberErrorTexts.email);
      const isRepeated = met.has(key);
      met.add(key);
      return outcomeOf(isRepeated ? "unchanged" : stored.has(key) ? rules.ifStored : rules.ifNew);
    }),
  );
}

interface Bulk<R> {
  readonly unsubscribers: R[];
  readonly errors: AddressError[];
  readonly outcomes: ItemOutcome[];
}

/**
 * Source: spec "Unsubscribers". Assumed: calls are always synchronous; `async` only omits the records from the output, and
 * with `validate_data`, it includes the errors.
 */
function createOutput<R>(input: BulkInput, { unsubscribers, errors, outcomes }: Bulk<R>) {
  const hasErrors = input.async === true && input.validate_data === true;
  return {
    ...(!input.async && { unsubscribers }),
    ...(hasErrors && { errors }),
    ...(input.details === true && { outcomes }),
  };
}

const addressColumns = { email_type_id: "integer", email: "text", email_key: "text" } as const;

/** Stores unsubscribed addresses. Addresses that are already stored are not changed; the first spelling stays. */
export async function insertUnsubscribers(
  addresses: readonly Address[],
  byName: string,
  context: HandlerContext,
): Promise<void> {
  const { transaction, dialect, nowMs } = context;
  const rows = JSON.stringify(addresses);
  const records = addresses.map(([email_type_id, email, email_key]) => ({ email_type_id, email, email_key }));
  await announceUnsubscriptions(records, { accountId: accountOf(context).id, byName }, context);
  await insertAddresses(transaction, dialect, { accountId: accountOf(context).id, byName, nowMs, rows });
}

const insertAddresses = createDeferredStatement<{ accountId: number; byName: string; nowMs: number; rows: string }>(
  (slot, dialect) => sql`
    insert into unsubscribers (account_id, by_name, created_at, email_type_id, email, email_key)
    select cast(${slot("accountId")} as bigint), cast(${slot("byName")} as text), cast(${slot("nowMs")} as bigint),
      email_type_id, email, email_key
    from ${batchOf(addressColumns, slot("rows"), dialect)} where true
    ${dialect.inBatchOrder}
    on conflict (account_id, email_type_id, email_key) do nothing`,
);

type Found = Pick<Row<"unsubscribers">, "id" | "email" | "email_type_id" | "by_name">;

/** Finds the stored ones of some addresses, sorted by ID. */
async function findAddresses(addresses: readonly Address[], context: HandlerContext): Promise<readonly Found[]> {
  const { transaction, dialect } = context;
  const rows = JSON.stringify(addresses.map(([typeId, , key]) => [typeId, key]));
  return (await selectAddresses(transaction, dialect, { accountId: accountOf(context).id, rows })).rows;
}

const keyColumns = { email_type_id: "integer", email_key: "text" } as const;

const selectAddresses = createStatement<{ accountId: number; rows: string }, Found>(
  (slot, dialect) => sql`
    select distinct unsubscribers.id, unsubscribers.email, unsubscribers.email_type_id, unsubscribers.by_name
    from ${batchOf(keyColumns, slot("rows"), dialect)} cross join unsubscribers
    where unsubscribers.account_id = ${slot("accountId")} and unsubscribers.email_type_id = batch.email_type_id
      and unsubscribers.email_key = batch.email_key
    order by unsubscribers.id`,
);

async function deleteAddresses(found: readonly Found[], context: HandlerContext): Promise<void> {
  const ids = found.map(({ id }) => [id]);
  await deleteAccountRows("unsubscribers", accountOf(context).id, context.transaction)
    .where("id", "in", (eb) =>
      eb.selectFrom(batchRows<{ id: number }>({ id: "integer" }, ids, context.dialect)).select("batch.id"),
    )
    .execute();
}

function toRecord({ id, email, email_type_id, by_name }: Found) {
  return { id, user_email: email, email_type_id, unsubscirbed_by_name: by_name };
}
