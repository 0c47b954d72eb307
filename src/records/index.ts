import type { RecordKind } from "../import/kind.ts";
import { coupons } from "./coupons/kind.ts";
import { groups } from "./groups/kind.ts";
import { orders } from "./orders/kind.ts";
import { products } from "./products/kind.ts";
import { reviews } from "./reviews/kind.ts";
import { unsubscribers } from "./unsubscribers/kind.ts";

/** The record kinds. A line here is all that it takes to register a kind. */
export const recordKinds: readonly RecordKind[] = [products, orders, coupons, unsubscribers, reviews, groups];

/** @throws Error if no kind has this name */
export function findKind(name: string): RecordKind {
  const found = recordKinds.find((kind) => kind.name === name);
  if (!found) throw new Error(`unknown record kind ${name}`);
  return found;
}
