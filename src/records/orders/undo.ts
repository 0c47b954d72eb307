import { endpointOf, purchasePage } from "../../contract/index.ts";
import { listPurchases } from "../../service/listings.ts";
import type { Service } from "../../service/service.ts";
import type { CallOptions } from "../../service/transport.ts";
import type { Entry } from "../../import/undo/previous-values.ts";
import type { Decision, PreviousState, UndoTarget, UndoBehavior } from "../../import/undo/undo-behavior.ts";

const noNote = "";

/**
 * Records the highest purchase ID before the run; purchases above it are newer.
 * Assumed: IDs grow. `page`, which the specification does not show for purchases, finds the last one in a few calls;
 * the result is used only if no purchase with a higher ID follows it.
 */
async function* readHighestId(service: Service, options: CallOptions): AsyncGenerator<readonly Entry[]> {
  const { purchases, total_purchases: total } = await service.orders.list({ count: 1 }, options);
  if (purchases.length === 0) {
    yield [[noNote, { highest_id: 0 }]];
    return;
  }
  const last = await service.orders.list({ count: 1, page: Math.max(total, 1) }, options);
  const id = last.purchases[0]?.id ?? 0;
  const behind = await service.orders.list({ count: 2, since_id: id }, options);
  if (behind.purchases.every((purchase) => purchase.id <= id)) yield [[noNote, { highest_id: id }]];
}

const stays = "its emails are canceled; the API cannot delete orders, so the order and its products stay";

/** Cancels the emails of the orders that the run created. */
export const orderUndo: UndoBehavior = {
  previous: { read: readHighestId, isOnRequest: true },
  // Creation times show it too, though less reliably.
  needsPrevious: false,
  targetOf: ({ key }) => ({ key, written: {} }),

  now: async function* (service, options): AsyncGenerator<readonly Entry[]> {
    for await (const page of listPurchases(service, 0, options, { count: purchasePage.recommended })) {
      yield page.map(({ order_id, id, created_at }) => [order_id, { id, created_at }]);
    }
  },

  decide: (thing, past): Decision => {
    if (!thing.now) return { outcome: "kept", reason: "is not stored on the service" };
    if (wasBefore(thing.now, past))
      return { outcome: "kept", reason: "was stored before the run; what the run changed in it stays" };
    return { outcome: "reversed", reason: stays, send: {} };
  },

  itemsACall: endpointOf("orders.massCreate").batch?.recommended ?? 1,

  send: async (service, things, options) => {
    await service.orders.cancelEmails({ orders: things.map(({ key }) => ({ order_id: key })) }, options);
    return new Map();
  },
};

/**
 * Whether an order's first purchase is older than the run.
 * Assumed: without a recorded ID, the service's clock decides; it agrees with ours and may have a resolution of one
 * second.
 */
function wasBefore(now: NonNullable<UndoTarget["now"]>, past: PreviousState): boolean {
  const highest = past.get(noNote)?.["highest_id"];
  if (typeof highest === "number") return Number(now["id"]) <= highest;
  return Date.parse(String(now["created_at"])) < past.startedMs - (past.startedMs % 1_000);
}
