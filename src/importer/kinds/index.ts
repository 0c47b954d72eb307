import type { KindName } from "../types.ts";
import { coupons } from "./coupons.ts";
import type { Kind } from "./kind.ts";
import { orders } from "./orders.ts";
import { products } from "./products.ts";
import { reviews } from "./reviews.ts";
import { unsubscribers } from "./unsubscribers.ts";

export const kinds: Readonly<Record<KindName, Kind>> = { products, orders, coupons, unsubscribers, reviews };
