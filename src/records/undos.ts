import type { ImportOptions, KindName } from "../import/types.ts";
import { couponNoting, createCouponUndoing } from "./coupons/undo.ts";
import { orderNoting, orderUndoing } from "./orders/undo.ts";
import { productNoting, productUndoing } from "./products/undo.ts";
import type { Noting, Undoing } from "../import/undo/undo-kind.ts";
import { createUnsubscriberUndoing, unsubscriberNoting } from "./unsubscribers/undo.ts";

/** What a run keeps before it changes anything; nothing for kinds that cannot be taken back. */
export function findNoting(kind: KindName, { undoable }: ImportOptions): Noting | undefined {
  const notings: Readonly<Partial<Record<KindName, Noting | undefined>>> = {
    products: undoable === true ? productNoting : undefined,
    // Times tell it too, if not as surely: an import makes no call for it that was not asked for.
    orders: undoable === true ? orderNoting : undefined,
    coupons: couponNoting,
    unsubscribers: unsubscriberNoting,
  };
  return notings[kind];
}

/** How a run is taken back; nothing where the API can take back nothing of its kind. */
export function findUndoing(kind: KindName, { action, remove }: ImportOptions): Undoing | undefined {
  const undoings: Readonly<Partial<Record<KindName, Undoing>>> = {
    products: productUndoing,
    orders: orderUndoing,
    coupons: createCouponUndoing(action ?? ""),
    unsubscribers: createUnsubscriberUndoing(remove ?? false),
  };
  return undoings[kind];
}
