import { ServiceError } from "../../contract/index.ts";
import type { Service } from "../../service/service.ts";
import type { CallOptions } from "../../service/transport.ts";
import type { Entry } from "../../import/undo/previous-values.ts";
import type { Decision, UndoBehavior } from "../../import/undo/undo-behavior.ts";
import { comparableName, listGroups, type Membership, membershipKey } from "./memberships.ts";

const groupKey = (group: string) => `group\n\n${comparableName(group)}`;
const productKey = (id: string) => `product\n\n${id}`;

/** Lists every membership, every group, and the group of every product. */
async function* readGroups(service: Service, options: CallOptions): AsyncGenerator<readonly Entry[]> {
  for await (const { group, productIds } of listGroups(service, options)) {
    const entries = productIds.flatMap((id): Entry[] => [
      [membershipKey(group, id), {}],
      [productKey(id), { group }],
    ]);
    yield [[groupKey(group), {}], ...entries];
  }
}

/** Removes the products that the run added, moves them back to their previous group, and deletes empty new groups. */
export const groupUndo: UndoBehavior = {
  previous: { read: readGroups, isOnRequest: true },

  targetOf: ({ key, payload }) => ({ key, written: { ...(payload as Membership) } }),

  now: async function* (service, options): AsyncGenerator<readonly Entry[]> {
    for await (const { group, productIds } of listGroups(service, options)) {
      yield productIds.map((id): Entry => [membershipKey(group, id), {}]);
    }
  },

  decide: ({ key, written, now, wasSent }, past): Decision => {
    if (past.whyNot !== undefined) return { outcome: "impossible", reason: past.whyNot };
    if (past.get(key)) return { outcome: "kept", reason: "was in the group before the run" };
    if (!now) {
      return wasSent
        ? { outcome: "reversed", reason: "is no longer in the group" }
        : { outcome: "kept", reason: "changed since: is no longer in the group" };
    }
    const previous = past.get(productKey(String(written["productId"])))?.["group"] as string | undefined;
    const isNewGroup = past.get(groupKey(String(written["group"]))) === undefined;
    const reason = previous === undefined ? "is removed from the group" : `is moved back to the group ${previous}`;
    return { outcome: "reversed", reason, send: { ...written, previous, isNewGroup } };
  },

  itemsACall: 100,

  send: async (service, reversals, options) => {
    const refused = new Map<string, string>();
    const newGroups = new Set<string>();
    for (const { key, send } of reversals) {
      const { group, productId, previous, isNewGroup } = send as unknown as Membership & {
        readonly previous?: string;
        readonly isNewGroup: boolean;
      };
      if (isNewGroup) newGroups.add(group);
      const reason = await move(service, productId, { from: group, to: previous }, options);
      if (reason !== undefined) refused.set(key, reason);
    }
    for (const group of newGroups) await deleteIfEmpty(service, group, options);
    return refused;
  },
};

/** @returns why the service refused it, or undefined */
async function move(
  service: Service,
  productId: string,
  { from, to }: { readonly from: string; readonly to: string | undefined },
  options: CallOptions,
): Promise<string | undefined> {
  try {
    await service.groups.update({ group_name: from, product_ids_to_remove: [productId] }, options);
    if (to !== undefined) await service.groups.update({ group_name: to, product_ids_to_add: [productId] }, options);
    return undefined;
  } catch (error) {
    if (isRefusal(error)) return error.message;
    throw error;
  }
}

const isRefusal = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && ["invalidParams", "recordNotFound"].includes(error.kind);

/** A group with products that were added since stays. */
async function deleteIfEmpty(service: Service, group: string, options: CallOptions): Promise<void> {
  try {
    const { products_group } = await service.groups.get({ group_name: group }, options);
    if (products_group.products_apps.length > 0) return;
    await service.groups.delete({ group_name: group }, options);
  } catch (error) {
    // Someone else has deleted it or added a product meanwhile.
    if (!isRefusal(error)) throw error;
  }
}
