import {
  type contract,
  invalidField,
  type ItemOutcome,
  maxLength,
  outcomeOf,
  recordNotFound,
  ServiceError,
} from "../../contract/index.ts";
import { batchRows } from "../../storage/batch.ts";
import { deleteAccountRows, sameAccount, selectAccountRows, updateAccountRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext, type Handlers } from "../kernel/handler.ts";
import { moveProducts } from "./group-membership.ts";
import { iso } from "../kernel/times.ts";

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
    await moveProducts(
      leaving.map(({ id }) => id),
      undefined,
      context,
    );
    await moveProducts(
      joining.map(({ id }) => id),
      group.id,
      context,
    );
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
    const { transaction } = context;
    const { id: accountId } = accountOf(context);
    const member = await selectAccountRows("group_products", accountId, transaction)
      .select("product_row")
      .where("group_row", "=", group.id)
      .executeTakeFirst();
    if (member) {
      throw new ServiceError("invalidParams", `the group ${group.name} still has products; remove them from it first`);
    }
    await deleteAccountRows("product_groups", accountId, transaction).where("id", "=", group.id).execute();
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
  const group = await selectAccountRows("product_groups", accountOf(context).id, context.transaction)
    .select(["id", "name", "created_at", "updated_at"])
    .where("name", "=", name)
    .executeTakeFirst();
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
  await updateAccountRows("product_groups", accountOf(context).id, context.transaction)
    .set({ updated_at: context.nowMs })
    .where("id", "in", rows)
    .execute();
}
