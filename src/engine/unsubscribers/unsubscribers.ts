import { searchUnsubscribers } from "./unsubscriber-search.ts";
import { announceUnsubscriptions } from "./unsubscription.ts";
import { sql } from "kysely";
import {
  actorNames,
  type contract,
  emailKeyOf,
  type FieldError,
  isEmailTypeId,
  type ItemOutcome,
  outcomeOf,
  shape,
  unsubscriberErrorTexts,
  unsubscriberPageDefault,
} from "../../contract/index.ts";
import { batchOf, batchRows } from "../../storage/batch.ts";
import { letOthersRun, runInSlices } from "../../storage/loop-turn.ts";
import { createDeferredStatement, createStatement } from "../../storage/statement.ts";
import type { Row } from "../../storage/tables.ts";
import { requireFeature } from "../accounts/account-settings.ts";
import { deleteAccountRows, selectAccountRows } from "../kernel/account-rows.ts";
import { partIndex } from "../kernel/lists/part-index.ts";
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
    prepare: checkCall,
    combines: ({ input, sent }) => input.details !== true && sent.length <= maxCombined,
    runMany: createUnsubscribers,
  }),

  /**
   * Removes unsubscribed addresses, also those whose owners unsubscribed, and returns the removed records.
   * Source: spec "States and transitions". Assumed: unknown addresses are ignored.
   */
  massDelete: operation("unsubscribers.massDelete", {
    prepare: checkCall,
    run: async (call, context) => {
      await requireFeature(context, "unsubscribers");
      const found = await findAddresses(call.addresses, context);
      await deleteAddresses(found, context);
      await letOthersRun();
      return createOutput(call, { before: found, listed: found }, { ifNew: "unchanged", ifStored: "changed" });
    },
  }),

  /** Assumed: addresses are sorted by ID; `page` starts at 1; `count` defaults to 5,000. */
  list: async ({ count = unsubscriberPageDefault, page = 1 }, context) => {
    await requireFeature(context, "unsubscribers");
    const offset = Math.min((Math.max(page, 1) - 1) * count, Number.MAX_SAFE_INTEGER);
    const found = await selectUnsubscribers({ count, offset }, context).execute();
    return { unsubscribers: found.map(toRecord) };
  },

  search: operation("unsubscribers.search", {
    before: ({ search }) => (search === undefined ? undefined : partIndex(["unsubscribers"])),
    run: searchUnsubscribers,
  }),
};

/** The most addresses of a call that is handled together with others. */
const maxCombined = 10;

/** Unsubscribes the addresses of several calls with a constant number of statements. */
async function createUnsubscribers(calls: readonly CheckedCall[], context: HandlerContext) {
  const addresses = calls.flatMap((call) => call.addresses);
  const needsStored = calls.some(({ input }) => input.details === true);
  const [, before] = await context.dialect.runAll([
    () => requireFeature(context, "unsubscribers"),
    async () => (needsStored ? findAddresses(addresses, context) : []),
  ]);
  await insertUnsubscribers(addresses, actorNames.store, context);
  const found = calls.every(({ input }) => input.async) ? [] : await findAddresses(addresses, context);
  await letOthersRun();
  return calls.map((call) => {
    const own = new Set(call.sent);
    const listed = found.filter((one) => own.has(keyOf(one.email_type_id, one.email_key)));
    return createOutput(call, { before, listed }, { ifNew: "created", ifStored: "unchanged" });
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

const keyOf = (typeId: number, emailKey: string) => `${typeId} ${emailKey}`;

type Address = [email_type_id: number, email: string, email_key: string];

interface CheckedCall {
  readonly input: BulkInput;
  readonly addresses: readonly Address[];
  readonly errors: AddressError[];
  /** By type ID and then in the order sent: the key of each address, or why it is invalid. */
  readonly sent: (string | FieldError)[];
}

function checkCall(input: BulkInput): Promise<CheckedCall> {
  return runInSlices(checkAddresses(input));
}

/** Assumed: addresses are compared by their keys; an invalid type ID is reported once, not for each address. */
function* checkAddresses(input: BulkInput): Generator<undefined, CheckedCall> {
  const addresses = new Map<string, Address>();
  const errors: AddressError[] = [];
  const sent: (string | FieldError)[] = [];
  for (const [typeId, emails] of Object.entries(input.email_list)) {
    const isValidType = isEmailTypeId(typeId);
    if (!isValidType) errors.push({ value: typeId, error: unsubscriberErrorTexts.emailType });
    for (const email of emails) {
      yield;
      if (!isValidType) sent.push({ field: "email_type_id", error: unsubscriberErrorTexts.emailType });
      else if (shape.email.safeParse(email).success) {
        const address: Address = [Number(typeId), email, emailKeyOf(email)];
        const key = keyOf(address[0], address[2]);
        // As in several calls, the first spelling stays.
        if (!addresses.has(key)) addresses.set(key, address);
        sent.push(key);
      } else {
        errors.push({ value: email, error: unsubscriberErrorTexts.email });
        sent.push({ field: "email", error: unsubscriberErrorTexts.email });
      }
    }
  }
  return { input, addresses: [...addresses.values()], errors, sent };
}

interface OutcomeRules {
  /** The outcome of an address that was not stored before the call, and of one that was. */
  readonly ifNew: ItemOutcome["outcome"];
  readonly ifStored: ItemOutcome["outcome"];
}

/** One outcome per address that was sent; a repeated address is unchanged. */
function listOutcomes(
  { sent }: CheckedCall,
  before: readonly Found[],
  { ifNew, ifStored }: OutcomeRules,
): ItemOutcome[] {
  const stored = new Set(before.map((one) => keyOf(one.email_type_id, one.email_key)));
  const met = new Set<string>();
  return sent.map((key) => {
    if (typeof key !== "string") return outcomeOf("dropped", { dropped: [key] });
    const isRepeated = met.has(key);
    met.add(key);
    return outcomeOf(isRepeated ? "unchanged" : stored.has(key) ? ifStored : ifNew);
  });
}

interface StoredAddresses {
  /** Those that were stored before the call. */
  readonly before: readonly Found[];
  /** Those that the output lists. */
  readonly listed: readonly Found[];
}

/**
 * Source: spec "Unsubscribers". Assumed: calls are always synchronous; `async` only omits the records from the output, and
 * with `validate_data`, it includes the errors.
 */
function createOutput(checked: CheckedCall, { before, listed }: StoredAddresses, rules: OutcomeRules) {
  const { input } = checked;
  const hasErrors = input.async === true && input.validate_data === true;
  return {
    ...(!input.async && { unsubscribers: listed.map(toRecord) }),
    ...(hasErrors && { errors: checked.errors }),
    ...(input.details === true && { outcomes: listOutcomes(checked, before, rules) }),
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

type Found = Pick<Row<"unsubscribers">, "id" | "email" | "email_key" | "email_type_id" | "by_name">;

/** Finds the stored ones of some addresses, sorted by ID. */
async function findAddresses(addresses: readonly Address[], context: HandlerContext): Promise<readonly Found[]> {
  const { transaction, dialect } = context;
  const rows = JSON.stringify(addresses.map(([typeId, , key]) => [typeId, key]));
  return (await selectAddresses(transaction, dialect, { accountId: accountOf(context).id, rows })).rows;
}

const keyColumns = { email_type_id: "integer", email_key: "text" } as const;

const selectAddresses = createStatement<{ accountId: number; rows: string }, Found>(
  (slot, dialect) => sql`
    select distinct unsubscribers.id, unsubscribers.email, unsubscribers.email_key, unsubscribers.email_type_id,
      unsubscribers.by_name
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

function toRecord({ id, email, email_type_id, by_name }: Omit<Found, "email_key">) {
  return { id, user_email: email, email_type_id, unsubscirbed_by_name: by_name };
}
