import type { ExportNoun, Noun } from "../export/record-export.ts";
import { coupons } from "./coupons/export.ts";
import { orders } from "./orders/export.ts";
import { products } from "./products/export.ts";
import { reviews } from "./reviews/export.ts";
import { unsubscribers } from "./unsubscribers/export.ts";

export const nouns: Readonly<Record<ExportNoun, Noun>> = {
  products,
  orders,
  coupons,
  unsubscribers,
  reviews,
};
