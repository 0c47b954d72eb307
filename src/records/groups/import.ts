import { type FieldError, maxLength, ServiceError } from "../../contract/index.ts";
import { readProductId } from "../../import/check/fields.ts";
import { readServiceProblem } from "../../import/check/service-errors.ts";
import { readOutcomes } from "../../import/check/service-outcomes.ts";
import type { Item, ItemError, RowError } from "../../import/item.ts";
import type { PreparedImport, RecordImporter } from "../../import/kind.ts";
import { expectOne } from "../../import/verify/stored-records.ts";
import type { CallOptions } from "../../service/transport.ts";
import type { Service } from "../../service/service.ts";
import { comparableName, listGroups, type Membership, membershipKey } from "./memberships.ts";
import { groupUndo } from "./undo.ts";
import { synonyms } from "../../import/mapping/names.ts";
import { productSynonyms } from "../product-synonyms.ts";

export const groupImporter: RecordImporter = {
  prepare: prepareImport,
  synonyms: {
    group: synonyms(
      "group|group name|product group|product group name|collection|collection name|gruppe|produktgruppe|artikelgruppe|warengruppe|groupe|groupe de produits|grupo|grupo de productos|gruppo|gruppo di prodotti|grupo de produtos|groep|productgroep|grupa|grupa produktow|produktgrupp|produktgruppe|tuoteryhma",
      "name|category|kategorie|categorie|categoria|set|family",
    ),
    product_id: productSynonyms.id,
  },
  plan: {
    ids: [
      { type: "membership", writtenIn: "", isCanonical: true },
      { type: "group", field: "group", writtenIn: "group" },
      { type: "product", field: "product_id", writtenIn: "product_id" },
    ],
    keyOf: ({ key }) => key,
    loadStored: async (service, tally, options) => {
      for await (const { group, productIds } of listGroups(service, options)) {
        tally.addStored("group", comparableName(group));
        for (const id of productIds) {
          tally.addStored("membership", membershipKey(group, id));
          tally.addStored("product", id);
        }
      }
    },
  },
  undo: () => groupUndo,
};

const membershipOf = ({ payload }: Item) => payload as Membership;

function prepareImport(): PreparedImport {
  const existing = new ExistingGroups();
  return {
    operation: "groups.update",
    itemsPerCall: { recommended: 100, max: 500 },
    // Brings the rows of a group together, since a call is about one group.
    groupField: "group",

    read: (row, source) => {
      const errors: RowError[] = [];
      const group = comparableName(row("group"));
      const nameError = checkName(group);
      if (nameError) errors.push({ field: "group", ...nameError });
      const productId = readProductId(row, errors);
      if (errors.length > 0) return errors;
      const payload: Membership = { group, productId };
      const key = membershipKey(group, productId);
      return { key, batchKey: group, rows: [source], size: productId.length + 3, payload };
    },

    nameOf: (item) => `${membershipOf(item).productId} in ${membershipOf(item).group}`,

    // Assumed: a product is in at most one group, so two groups that name it must be written in order.
    writes: (item) => [[membershipOf(item).productId, membershipOf(item).group]],

    send: async (service, items, options) => {
      const [first] = items;
      if (!first) return { errors: [] };
      try {
        const group_name = await existing.find(service, first.batchKey, options);
        const product_ids_to_add = items.map((item) => membershipOf(item).productId);
        const update = { group_name, product_ids_to_add, details: true };
        const { outcomes } = await service.groups.update(update, options);
        return readOutcomes({ outcomes, errors: [] }, asProductError);
      } catch (error) {
        // Larger calls are split until the invalid membership is alone.
        if (items.length > 1 || !(error instanceof ServiceError) || error.kind !== "invalidParams") throw error;
        return { errors: [asProductError(0, { error: error.message })] };
      }
    },

    storedRecords: {
      expected: (item) => {
        const { group, productId } = membershipOf(item);
        return expectOne(item, item.key, "product_id", { group_name: group, product_id: productId });
      },
      list: async function* (service, options) {
        for await (const { group, productIds } of listGroups(service, options)) {
          yield productIds.map((id) => ({ key: membershipKey(group, id) }));
        }
      },
    },
  };
}

/** Assumed: as the embedded engine has it, a name is at most as long as an ID and can be part of a path. */
function checkName(group: string): Omit<RowError, "field"> | undefined {
  if (group === "") return { code: "missing", reason: "is missing" };
  if (group.length > maxLength.id) return { code: "too_long", reason: `is longer than ${maxLength.id} characters` };
  if (!/^\.\.?$/.test(group)) return undefined;
  return { code: "bad_group", reason: `'${group}' is not a valid group name` };
}

const asProductError = (item: number, { error }: Pick<FieldError, "error">): ItemError => ({
  item,
  ...readServiceProblem("product_id", error),
});

type Names = Map<string, string>;

/** Creates groups that do not exist, once each. */
class ExistingGroups {
  #names: Promise<Names> | undefined;
  readonly #creating = new Map<string, Promise<void>>();

  /** Returns the name of the group on the service, which may compare names exactly. */
  async find(service: Service, group: string, options: CallOptions): Promise<string> {
    this.#names ??= readNames(service, options);
    const names = await this.#names.catch((error: unknown) => {
      this.#names = undefined;
      throw error;
    });
    const existing = names.get(group);
    if (existing !== undefined) return existing;
    const creating = this.#creating.get(group) ?? createGroup(service, group, options);
    this.#creating.set(group, creating);
    try {
      await creating;
      names.set(group, group);
      return group;
    } finally {
      this.#creating.delete(group);
    }
  }
}

/** Reads the names of all groups by their comparable form. */
async function readNames(service: Service, options: CallOptions): Promise<Names> {
  const { products_groups } = await service.groups.list({}, options);
  return new Map(products_groups.map(({ display_name: name }) => [comparableName(name), name]));
}

/** Creates a group. Ignores a refusal if another process or an unanswered call has created the group. */
async function createGroup(service: Service, group: string, options: CallOptions): Promise<void> {
  try {
    await service.groups.create({ group_name: group }, options);
  } catch (error) {
    const mayExist = error instanceof ServiceError && (error.kind === "invalidParams" || error.outcomeUnknown);
    if (!mayExist || !(await readNames(service, options)).has(group)) throw error;
  }
}

/** The most products that one call adds. Source: the limit in `contract/groups.ts`. */
const maxAdded = 500;

/** Copies all groups and their members to an account that already has the products. */
export async function copyGroups(from: Service, to: Service, options: CallOptions): Promise<readonly string[]> {
  for await (const { group, productIds } of listGroups(from, options)) {
    await to.groups.create({ group_name: group });
    for (let at = 0; at < productIds.length; at += maxAdded) {
      await to.groups.update({ group_name: group, product_ids_to_add: productIds.slice(at, at + maxAdded) });
    }
  }
  return [];
}
