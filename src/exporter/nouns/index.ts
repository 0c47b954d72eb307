import type { ExportNoun, Noun } from "../noun.ts";
import { coupons } from "./coupons.ts";
import { orders } from "./orders.ts";
import { products } from "./products.ts";
import { reviews } from "./reviews.ts";
import { unsubscribers } from "./unsubscribers.ts";

export const nouns: Readonly<Record<ExportNoun, Noun>> = {
  products,
  orders,
  coupons,
  unsubscribers,
  reviews,
};
