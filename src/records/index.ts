import type { KindName } from "../import/types.ts";
import { coupons } from "./coupons/import.ts";
import type { Kind } from "../import/kind.ts";
import { orders } from "./orders/import.ts";
import { products } from "./products/import.ts";
import { reviews } from "./reviews/import.ts";
import { unsubscribers } from "./unsubscribers/import.ts";

export const kinds: Readonly<Record<KindName, Kind>> = { products, orders, coupons, unsubscribers, reviews };
