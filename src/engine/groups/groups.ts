import {
  type contract,
  invalidField,
  type ItemOutcome,
  maxLength,
  outcomeOf,
  recordNotFound,
  ServiceError,
} from "../../contract/index.ts";
import { batchRows, constantInBatch } from "../../storage/batch.ts";
import { deleteRows, findRow, sameAccount, selectAccountRows, updateRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext, type Handlers } from "../kernel/handler.ts";
import { iso } from "../kernel/times.ts";
import { type RawBuilder, sql } from "kysely";
import { bigintLiteral, textLiteral } from "../kernel/sql-literals.ts";
import { recordBottomLines } from "../reviews/star-totals.ts";
import { findGroups, groupTarget, productTarget } from "../reviews/rating-targets.ts";

/**
 * The products of a group share their reviews; a product is in at most one group.
 * Source: spec "Product groups". Assumed: names are compared exactly, after trimming,
 * in the normalization form NFC, in which they are stored.
 */
export const groupHandlers: Handlers<typeof contract.groups> = {
  /**
   * Creates an empty group.
   * @throws ServiceError `invalidParams` if the name is taken or cannot be part of a path
   */
  create: async ({ group_name }, context) => {
    const name = parseNewName(group_name);
    const { transaction, nowMs } = context;
    const created = await transaction
      .insertInto("product_groups")
      .values({ account_id: accountOf(context).id, name, created_at: nowMs, updated_at: nowMs })
      .onConflict((conflict) => conflict.columns(["account_id", "name"]).doNothing())
      .returning("id")
      .executeTakeFirst();
    if (!created) throw invalidField("group_name", `is already taken: ${name}`);
    return {};
  },

  /** Assumed: groups are listed in the order of creation. */
  list: async (_input, context) => {
    const products_groups = await selectAccountRows("product_groups", accountOf(context).id, context.transaction)
      .select(["id", "name as display_name", "account_id"])
      .orderBy("id")
      .execute();
    return { products_groups };
  },

  /** @throws ServiceError `recordNotFound` */
  get: async ({ group_name }, context) => {
    const group = await findGroup(group_name, context);
    const products_apps = await selectAccountRows("group_products", accountOf(context).id, context.transaction)
      .innerJoin("products", sameAccount("products.id", "group_products.product_row"))
      .select(["products.product_id as sku", "products.url as product_url"])
      .where("group_products.group_row", "=", group.id)
      .orderBy("group_products.product_row")
      .execute();
    return {
      products_group: {
        display_name: group.name,
        created_at: iso(group.created_at),
        updated_at: iso(group.updated_at),
        products_apps,
      },
    };
  },

  /**
   * Adds and removes products, atomically.
   * Assumed: a product that is added leaves its previous group; adding an unknown product, or a product that is in both
   * lists, fails the call; removing a product that is not in the group has no effect. As an outcome, a product without a
   * group that is added is created, one from another group is changed, and a removed one is changed.
   * @throws ServiceError `recordNotFound`, `invalidParams`
   */
  update: async ({ group_name, product_ids_to_add = [], product_ids_to_remove = [], details }, context) => {
    const group = await findGroup(group_name, context);
    const toRemove = new Set(product_ids_to_remove);
    const both = product_ids_to_add.find((id) => toRemove.has(id));
    if (both !== undefined) {
      throw new ServiceError("invalidParams", `product_ids_to_add and product_ids_to_remove both contain ${both}`);
    }
    const adding = await findMembers(product_ids_to_add, context);
    const unknown = product_ids_to_add.find((id) => !adding.has(id));
    if (unknown !== undefined) {
      throw invalidField("product_ids_to_add", `contains an unknown product: ${unknown}`);
    }
    const removing = await findMembers(product_ids_to_remove, context);
    const joining = [...adding.values()].filter(({ group_row }) => group_row !== group.id);
    const leaving = [...removing.values()].filter(({ group_row }) => group_row === group.id);
    await moveProducts(idsOf(leaving), undefined, context);
    await moveProducts(idsOf(joining), group.id, context);
    const left = joining.map(({ group_row }) => group_row);
    if (joining.length + leaving.length > 0) await touch([group.id, ...left], context);
    if (details !== true) return {};
    return {
      outcomes: [
        ...listOutcomes(product_ids_to_add, adding, (row) =>
          row === group.id ? "unchanged" : row === null ? "created" : "changed",
        ),
        ...listOutcomes(product_ids_to_remove, removing, (row) => (row === group.id ? "changed" : "unchanged")),
      ],
    };
  },

  /**
   * Source: spec "Product groups". Assumed: deleting a group with products is an `invalidParams` error.
   * @throws ServiceError `recordNotFound`, `invalidParams`
   */
  delete: async ({ group_name }, context) => {
    const group = await findGroup(group_name, context);
    const member = await findRow("group_products", ["product_row"], { group_row: group.id }, context);
    if (member) {
      throw new ServiceError("invalidParams", `the group ${group.name} still has products; remove them from it first`);
    }
    await deleteRows("product_groups", { id: group.id }, context);
    return {};
  },
};

/** Assumed: a name has the maximum length of an ID, and is not `.` or `..`, which cannot be part of a path. */
function parseNewName(group_name: string): string {
  const name = normalizeName(group_name);
  if (name.length > maxLength.id) throw invalidField("group_name", `is longer than ${maxLength.id} characters`);
  if (name === "." || name === "..") throw invalidField("group_name", `must not be ${name}`);
  return name;
}

/** The same letters can be composed differently: `é` is one character or two. */
function normalizeName(name: string): string {
  return name.trim().normalize("NFC");
}

async function findGroup(group_name: string, context: HandlerContext) {
  const name = normalizeName(group_name);
  const group = await findRow("product_groups", ["id", "name", "created_at", "updated_at"], { name }, context);
  if (!group) throw recordNotFound("ProductsGroup", "name", name);
  return group;
}

/** @param describe converts the group that a product was in, or null, to the outcome of its first mention */
function listOutcomes(
  productIds: readonly string[],
  members: ReadonlyMap<string, Member>,
  describe: (groupRow: number | null) => ItemOutcome["outcome"],
): ItemOutcome[] {
  const met = new Set<string>();
  return productIds.map((id) => {
    const outcome = met.has(id) ? "unchanged" : describe(members.get(id)?.group_row ?? null);
    met.add(id);
    return outcomeOf(outcome, { fields: outcome === "changed" ? ["group"] : [] });
  });
}

interface Member {
  readonly id: number;
  readonly group_row: number | null;
}

const idsOf = (members: readonly Member[]) => members.map(({ id }) => id);

/** Finds products by product ID, with the group that each is in. */
async function findMembers(
  productIds: readonly string[],
  context: HandlerContext,
): Promise<ReadonlyMap<string, Member>> {
  if (productIds.length === 0) return new Map();
  const ids = [...new Set(productIds)].map((id) => [id]);
  const found = await context.transaction
    .selectFrom(batchRows<{ product_id: string }>({ product_id: "text" }, ids, context.dialect))
    .crossJoin("products")
    .leftJoin("group_products", sameAccount("group_products.product_row", "products.id"))
    .where("products.account_id", "=", accountOf(context).id)
    .whereRef("products.product_id", "=", "batch.product_id")
    .select(["products.product_id", "products.id", "group_products.group_row"])
    .execute();
  return new Map(found.map(({ product_id, ...member }) => [product_id, member]));
}

/** Updates the `updated_at` of groups whose products have changed. */
async function touch(groupRows: readonly (number | null)[], context: HandlerContext): Promise<void> {
  const rows = [...new Set(groupRows)].flatMap((row) => row ?? []);
  await updateRows("product_groups", { updated_at: context.nowMs }, { id: rows }, context);
}

const ownTarget = sql<string>`'p' || cast(batch.product_row as text)`;

const starColumns = [1, 2, 3, 4, 5].map((star) => `stars_${star}`);

/**
 * Moves products into a group, or out of their groups if `groupRow` is undefined: updates memberships, the rating
 * targets of reviews, and totals. The number of statements does not depend on the number of products.
 * @param productRows products of the account, none of which are in the group already
 */
async function moveProducts(
  productRows: readonly number[],
  groupRow: number | undefined,
  context: HandlerContext,
): Promise<void> {
  if (productRows.length === 0) return;
  const { transaction, dialect } = context;
  const account = bigintLiteral(accountOf(context).id);
  const rows = productRows.map((row) => [row]);
  const moved = sql`${batchRows<{ product_row: number }>({ product_row: "integer" }, rows, dialect)}`;
  const left = await findGroups(productRows, accountOf(context).id, context);
  const groupRows = new Set([...left.values(), ...(groupRow === undefined ? [] : [groupRow])]);
  const targets = [...productRows.map(productTarget), ...Array.from(groupRows, groupTarget)];
  await recordBottomLines(targets, accountOf(context).id, context);
  await addOwnTargets(moved, context);
  await leaveGroups(moved, context);
  if (groupRow !== undefined) await joinGroup(moved, groupRow, context);
  const target = groupRow === undefined ? ownTarget : textLiteral(groupTarget(groupRow));
  await sql`update reviews set rating_target = ${target} from ${moved}
    where reviews.account_id = ${constantInBatch(account, "product_row")}
      and reviews.product_row = batch.product_row`.execute(transaction);
}

/**
 * Adds totals for products without reviews. The bottom lines list products by their own target, even if only the group has
 * reviews.
 */
async function addOwnTargets(moved: RawBuilder<unknown>, context: HandlerContext): Promise<void> {
  await sql`
    insert into review_totals (account_id, rating_target, product_row, stars_1, stars_2, stars_3, stars_4, stars_5, updated_at)
    select ${bigintLiteral(accountOf(context).id)}, ${ownTarget}, batch.product_row, 0, 0, 0, 0, 0,
      ${bigintLiteral(context.nowMs)}
    from ${moved} where true
    on conflict (account_id, rating_target) do update set updated_at = excluded.updated_at`.execute(
    context.transaction,
  );
}

async function leaveGroups(moved: RawBuilder<unknown>, context: HandlerContext): Promise<void> {
  const account = bigintLiteral(accountOf(context).id);
  const target = sql<string>`'g' || cast(member.group_row as text)`;
  const from = sql`from ${moved} cross join group_products as member cross join review_totals as own
    where member.account_id = ${account} and member.product_row = batch.product_row
      and own.account_id = ${account} and own.rating_target = ${ownTarget} group by member.group_row`;
  await countForGroups({ target, by: -1, from }, context);
  await sql`delete from group_products where account_id = ${account}
      and product_row in (select batch.product_row from ${moved})`.execute(context.transaction);
}

async function joinGroup(moved: RawBuilder<unknown>, groupRow: number, context: HandlerContext): Promise<void> {
  const account = bigintLiteral(accountOf(context).id);
  await sql`
    insert into group_products (account_id, group_row, product_row)
    select ${account}, ${bigintLiteral(groupRow)}, batch.product_row
    from ${moved}`.execute(context.transaction);
  const from = sql`from ${moved} cross join review_totals as own
    where own.account_id = ${account} and own.rating_target = ${ownTarget}`;
  await countForGroups({ target: textLiteral(groupTarget(groupRow)), by: 1, from }, context);
}

interface GroupChange {
  /** The rating target of the group. */
  readonly target: RawBuilder<string>;
  readonly by: 1 | -1;
  /** The totals of the products as `own`, by group. */
  readonly from: RawBuilder<unknown>;
}

/** Adds the totals of products to their groups (1), or subtracts them (-1). */
async function countForGroups({ target, by, from }: GroupChange, context: HandlerContext): Promise<void> {
  const account = bigintLiteral(accountOf(context).id);
  const sum = (value: RawBuilder<unknown>) => sql`${sql.lit(by)} * sum(${value})`;
  const sums = starColumns.map((column) => sum(sql.ref(`own.${column}`)));
  const added = starColumns.map((column) => {
    const name = sql.ref(column);
    return sql`${name} = review_totals.${name} + excluded.${name}`;
  });
  await sql`
    insert into review_totals (account_id, rating_target, stars_1, stars_2, stars_3, stars_4, stars_5, updated_at)
    select ${account}, ${target}, ${sql.join(sums)}, ${bigintLiteral(context.nowMs)} ${from}
    on conflict (account_id, rating_target) do update set ${sql.join(added)}, updated_at = excluded.updated_at`.execute(
    context.transaction,
  );
}
