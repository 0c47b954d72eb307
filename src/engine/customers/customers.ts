import { buyerIndex } from "../orders/buyer-lookup.ts";
import { type contract, type ErasedCounts, erasurePage, type ReviewErasure } from "../../contract/index.ts";
import { selectAccountRows } from "../kernel/account-rows.ts";
import { partIndex } from "../kernel/lists/part-index.ts";
import { accountOf, type HandlerContext, type Handlers, operation } from "../kernel/handler.ts";
import { orderById, toPage } from "../kernel/lists/cursor.ts";
import { hideLinks } from "../kernel/signed-link.ts";
import { iso } from "../kernel/times.ts";
import { countCustomerRows, erasedTables, eraseCustomer, rejectOwner } from "./erasure.ts";
import { customerTables, findCustomers } from "./find-customers.ts";
import { findPerson } from "./person.ts";
import { readExport } from "./person-export.ts";
import { readCustomer } from "./person-records.ts";
import { findCustomerRows } from "./customer-rows.ts";

const defaultErasure: ReviewErasure = "anonymize";

export const customerHandlers: Handlers<typeof contract.customers> = {
  /** Assumed: an address about which nothing is stored is not an error. */
  get: operation("customers.get", {
    before: () => buyerIndex,
    run: async ({ email }, context) => ({ customer: await readCustomer(await findPerson(email, context), context) }),
  }),

  find: operation("customers.find", {
    before: () => partIndex(customerTables),
    run: async (query, context) => ({ customers: await findCustomers(query, context) }),
  }),

  /** Assumed: for a token with a role, links in emails have no tokens. */
  export: operation("customers.export", {
    before: () => buyerIndex,
    run: async ({ email }, context) => {
      const rows = await findCustomerRows(await findPerson(email, context), context);
      return { export: { ...rows.customer, ...hideLinks(await readExport(rows, context), context) } };
    },
  }),

  planErasure: operation("customers.planErasure", {
    before: () => buyerIndex,
    run: async ({ email, reviews = defaultErasure }, context) => {
      const rows = await findErasable(email, context);
      return { plan: { reviews, counts: await countCustomerRows(rows, context) } };
    },
  }),

  /**
   * Erases a customer's data.
   * @throws ServiceError `invalidParams` if the address belongs to the owner of the account
   * Assumed: texts can identify their author, so they are removed even if reviews are only anonymized; questions are deleted
   * with all answers. Repeating the call erases what was stored in the meantime.
   */
  erase: operation("customers.erase", {
    before: () => buyerIndex,
    run: async ({ email, reviews = defaultErasure }, context) => {
      const rows = await findErasable(email, context);
      const counts = await eraseCustomer(rows, reviews, context);
      const { transaction, nowMs } = context;
      const { id } = await transaction
        .insertInto("erasures")
        .values({ account_id: accountOf(context).id, reviews, counts: JSON.stringify(counts), created_at: nowMs })
        .returning("id")
        .executeTakeFirstOrThrow();
      const mailIds = [...rows.mails, ...rows.mailsToOthers];
      return { erasure: { id, created_at: iso(nowMs), reviews, counts }, mailIds };
    },
    // Removes the remains of erased rows and emails. If that fails, the rows themselves are erased nevertheless.
    after: async ({ erasure, mailIds }, _input, { database: { db, dialect }, onErased }) => {
      await onErased?.(mailIds);
      return { erasure, removed: await dialect.removeDeleted(erasedTables, db).catch(() => false) };
    },
  }),

  erasures: async ({ since_id, count = erasurePage.default, page_info }, context) => {
    const size = Math.min(count, erasurePage.max);
    const { direction, isNext } = orderById({ since_id, page_info });
    const found = await selectAccountRows("erasures", accountOf(context).id, context.transaction)
      .select(["id", "reviews", "counts", "created_at"])
      .where(isNext)
      .orderBy("id", direction)
      .limit(size + 1)
      .execute();
    const { rows, pagination } = toPage(found, size, ({ id }) => [id]);
    return {
      pagination,
      erasures: rows.map(({ id, reviews, counts, created_at }) => ({
        id,
        created_at: iso(created_at),
        reviews: reviews as ReviewErasure,
        counts: JSON.parse(counts) as ErasedCounts,
      })),
    };
  },
};

async function findErasable(email: string, context: HandlerContext) {
  const person = await findPerson(email, context);
  await rejectOwner(person, context);
  return findCustomerRows(person, context);
}
