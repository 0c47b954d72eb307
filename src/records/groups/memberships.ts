import type { CallOptions } from "../../service/transport.ts";
import type { Service } from "../../service/service.ts";

export interface Membership {
  readonly group: string;
  readonly productId: string;
}

/** A group with the IDs of its products. */
export interface GroupMembers {
  readonly group: string;
  readonly productIds: readonly string[];
}

/** The form in which names are compared: a letter with an accent is one character or two, depending on the program. */
export function comparableName(group: string): string {
  return group.normalize("NFC");
}

/** Identifies a membership; no ID contains a line break. */
export function membershipKey(group: string, productId: string): string {
  return `${comparableName(group)}\n${productId}`;
}

/** Reads all groups, one call for each. */
export async function* listGroups(service: Service, options: CallOptions): AsyncGenerator<GroupMembers> {
  const { products_groups: found } = await service.groups.list({}, options);
  for (const { display_name: group } of found) {
    const { products_group } = await service.groups.get({ group_name: group }, options);
    yield { group, productIds: products_group.products_apps.map(({ sku }) => sku) };
  }
}
