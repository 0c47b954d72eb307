import { purchasePage } from "../contract/index.ts";
import { listProducts, listPurchases, listUnsubscribers } from "../service/listings.ts";
import type { Claim, Holdings, Item } from "../import/kind.ts";

/** One key of several parts, none of which holds a line break. */
function keyOf(...parts: readonly string[]): string {
  return parts.join("\n");
}

interface OrderedProducts {
  readonly products: Readonly<Record<string, { readonly quantity?: number | undefined }>>;
}

/**
 * An order's products. Of a product that several rows name, each needs its share of the units: where fewer are there,
 * the later rows are the missing ones.
 */
export const orderHoldings: Holdings = {
  *claims({ key, parts = [], payload }: Item): Generator<Claim> {
    const { products } = payload as OrderedProducts;
    const namings = new Map<string, number>();
    for (const { id } of parts) namings.set(id, (namings.get(id) ?? 0) + 1);
    const ordinals = new Map<string, number>();
    for (const { id, row } of parts) {
      const ordinal = (ordinals.get(id) ?? 0) + 1;
      ordinals.set(id, ordinal);
      const of = products[id]?.quantity ?? 1;
      const needs = Math.ceil((of * ordinal) / (namings.get(id) ?? 1));
      const names = { order_id: key, product_id: id };
      yield { key: keyOf(key, id), needs, of, row, field: "product_id", names };
    }
  },
  held: async function* (service, options, since) {
    const asked = {
      count: purchasePage.recommended,
      ...(since && { since_date: since.toISOString().slice(0, 10) }),
    };
    for await (const page of listPurchases(service, 0, options, asked)) {
      yield page.map(({ order_id, product_sku }) => keyOf(order_id, product_sku));
    }
  },
  canNarrow: true,
};

export const productHoldings: Holdings = {
  claims: (item) => claimOne(item, item.key, "product_id", { product_id: item.key }),
  held: async function* (service, options, since) {
    const query = since === undefined ? {} : { updated_at_min: since.toISOString() };
    for await (const page of listProducts(service, query, options)) {
      yield page.map(({ external_id }) => external_id);
    }
  },
  canNarrow: true,
};

export const couponHoldings: Holdings = {
  claims: (item) => claimOne(item, item.key, "code", { code: item.key }),
  // The service gives them at once.
  held: async function* (service, options) {
    const { coupons } = await service.coupons.list({}, options);
    yield coupons.map(({ code }) => code);
  },
};

/** @param isRemoval whether the run took the addresses back: then they are to be gone */
export function createUnsubscriberHoldings(isRemoval: boolean): Holdings {
  return {
    claims: (item) => {
      const { type, email } = item.payload as { readonly type: string; readonly email: string };
      return claimOne(item, keyOf(type, email.toLowerCase()), "email", { email, email_type_id: type });
    },
    held: async function* (service, options) {
      for await (const page of listUnsubscribers(service, options)) {
        yield page.map(({ email_type_id, user_email }) =>
          keyOf(String(email_type_id), user_email.toLowerCase()),
        );
      }
    },
    isRemoval,
  };
}

/** An item that is one thing: its first row stands for it. */
function* claimOne(
  { rows }: Item,
  key: string,
  field: string,
  names: Readonly<Record<string, string>>,
): Generator<Claim> {
  const [row] = rows;
  if (row) yield { key, needs: 1, of: 1, row, field, names };
}
