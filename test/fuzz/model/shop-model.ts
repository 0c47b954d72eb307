import { LineHistory, linesOf, type ModelLine, type ModelReview } from "./ratings-model.ts";

export interface ModelProduct {
  name: string;
  url: string;
  description: string | null;
  price: string | null;
  product_tags: string | null;
  brand: string | null;
  blacklisted: boolean;
}

export type ProductFields = Partial<ModelProduct>;

export interface OrderedItem extends ProductFields {
  readonly name: string;
  readonly url: string;
  readonly quantity?: number;
  readonly unit_prices?: readonly string[];
}

export interface NewOrder {
  readonly order_id: string;
  readonly email: string;
  readonly customer_name: string;
  readonly order_date: string;
  readonly currency_iso?: string;
  readonly user_reference?: string;
  readonly products: Readonly<Record<string, OrderedItem>>;
}

interface ModelOrder {
  readonly email: string;
  name: string;
  date: string;
  currency: string | null;
  reference: string | null;
}

interface ModelUnit {
  readonly orderId: string;
  readonly productId: string;
  readonly createdMs: number;
  price: string | null;
}

const minCode = 3;
const maxCode = 64;
export const couponActions = ["map_review", "map_share", "map_review_share"] as const;
export type Action = (typeof couponActions)[number];

/**
 * An account as plain maps, written from the specification and docs/reference/assumptions.md, without any code of the
 * engine. Maps and lists are in the order of creation.
 */
export class ShopModel {
  readonly products = new Map<string, ModelProduct>();
  readonly orders = new Map<string, ModelOrder>();
  units: ModelUnit[] = [];
  readonly missed = new Map<string, { readonly orderId: string; readonly productId: string; readonly email: string }>();
  readonly reviews: ModelReview[] = [];
  readonly groups = new Map<string, Set<string>>();
  coupons: { readonly code: string; readonly action: Action }[] = [];
  unsubscribers: { readonly type: number; readonly email: string }[] = [];
  promoted: readonly string[] = [];
  delayMs = 60 * 60 * 1_000;
  readonly #lines = new LineHistory();
  readonly #clock: () => number;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Creates a product, or changes the fields of an existing one that are given. */
  saveProduct(id: string, fields: ProductFields): void {
    const empty = { name: id, url: "", description: null, price: null, product_tags: null, brand: null };
    this.products.set(id, { ...empty, blacklisted: false, ...this.products.get(id), ...fields });
  }

  /** @returns whether the product exists */
  updateProduct(id: string, fields: ProductFields): boolean {
    if (!this.products.has(id)) return false;
    this.saveProduct(id, { ...fields, ...(fields.description === "" && { description: null }) });
    return true;
  }

  /** @returns whether the order is accepted: an existing one is only for the same customer */
  saveOrder(order: NewOrder): boolean {
    const { order_id, email, customer_name: name, order_date: date } = order;
    const stored = this.orders.get(order_id);
    if (stored && stored.email.toLowerCase() !== email.toLowerCase()) return false;
    this.orders.set(order_id, {
      email: stored?.email ?? email,
      name,
      date,
      currency: order.currency_iso ?? stored?.currency ?? null,
      reference: order.user_reference ?? stored?.reference ?? null,
    });
    for (const [id, item] of Object.entries(order.products)) {
      if (/^[\w-]+$/.test(id)) this.#saveItem(order_id, id, item);
      else this.missed.set(`${order_id} ${id}`, { orderId: order_id, productId: id, email: email.toLowerCase() });
    }
    return true;
  }

  #saveItem(orderId: string, productId: string, { quantity, unit_prices = [], ...fields }: OrderedItem): void {
    this.saveProduct(productId, fields);
    const stored = this.units.filter((unit) => unit.orderId === orderId && unit.productId === productId);
    for (let at = 0; at < (quantity ?? 1); at += 1) {
      const price = unit_prices[at] ?? fields.price;
      const unit = stored[at];
      if (!unit) this.units.push({ orderId, productId, createdMs: this.#clock(), price: price ?? null });
      else if (price !== undefined && price !== null) unit.price = price;
    }
    if (quantity !== undefined) {
      const removed = new Set(stored.slice(quantity));
      this.units = this.units.filter((unit) => !removed.has(unit));
    }
  }

  /** An unknown product is created; an existing one does not change. */
  addReview(review: ModelReview, product: { readonly name: string; readonly url: string }): void {
    const { productId } = review;
    if (productId !== undefined && !this.products.has(productId)) this.saveProduct(productId, product);
    this.reviews.push(review);
    this.#lines.add(this.#clock(), this.lines());
  }

  setPublished(review: ModelReview, published: boolean, decision: { by: string; reason: string }): void {
    review.published = published;
    review.decisions.push({ event: published ? "published" : "unpublished", ...decision });
    this.#lines.add(this.#clock(), this.lines());
  }

  groupOf(productId: string): Set<string> | undefined {
    return [...this.groups.values()].find((members) => members.has(productId));
  }

  moveProducts(members: Set<string>, add: readonly string[], remove: readonly string[]): void {
    for (const id of remove) members.delete(id);
    for (const id of add) {
      this.groupOf(id)?.delete(id);
      members.add(id);
    }
    this.#lines.add(this.#clock(), this.lines());
  }

  /** The products in the order of their creation, whatever the order of the argument. */
  inOrder(ids: Iterable<string>): string[] {
    const wanted = new Set(ids);
    return [...this.products.keys()].filter((id) => wanted.has(id));
  }

  lines(): ModelLine[] {
    return linesOf({ productIds: [...this.products.keys()], reviews: this.reviews, groups: this.groups });
  }

  /** The list of bottom lines: those of the delay ago. */
  delayedLines(): readonly ModelLine[] {
    return this.#lines.asOf(this.#clock() - this.delayMs);
  }

  uploadCoupons(action: Action, codes: readonly string[]) {
    const counts = { empty_cell: 0, code_length: 0, duplicate_code: 0, added: 0 };
    for (const code of codes.map((text) => text.trim())) {
      if (code === "") counts.empty_cell += 1;
      else if (code.length < minCode || code.length > maxCode) counts.code_length += 1;
      else if (this.coupons.some((coupon) => coupon.code === code)) counts.duplicate_code += 1;
      else {
        this.coupons.push({ code, action });
        counts.added += 1;
      }
    }
    return counts;
  }

  unsubscribe(type: number, email: string): void {
    if (!this.#isUnsubscribed(type, email)) this.unsubscribers.push({ type, email });
  }

  resubscribe(type: number, email: string): void {
    this.unsubscribers = this.unsubscribers.filter(
      (entry) => entry.type !== type || entry.email.toLowerCase() !== email.toLowerCase(),
    );
  }

  #isUnsubscribed(type: number, email: string): boolean {
    return this.unsubscribers.some((entry) => entry.type === type && entry.email.toLowerCase() === email.toLowerCase());
  }
}
