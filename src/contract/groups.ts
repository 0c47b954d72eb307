import * as z from "zod";
import { endpoint, route } from "./endpoint.ts";
import { outcomesInput, outcomesOutput } from "./outcomes.ts";
import { statusWith } from "./reply.ts";
import { shape, timestamp } from "./shapes.ts";
import { lazily } from "./lazily.ts";

const path = "/v1/apps/{app_key}/products_groups";
const named = lazily(() => ({ group_name: shape.name }));

/** Maximum number of products that one call can add or remove. Assumed: the same as in a call that creates products. */
const maxProducts = 500;

const productIds = lazily(() =>
  z
    .array(shape.id, { error: "must be a list of product IDs" })
    .max(maxProducts, { error: `has more than ${maxProducts} elements` })
    .optional(),
);

/** The products of a group share their reviews. Source: spec "Product groups". */
export const groups = {
  create: endpoint({
    summary: "Create a product group",
    ...route("POST", path),
    effect: "once",
    roles: ["importer"],
    input: () => z.object(named()),
  }),
  list: endpoint({
    summary: "List product groups",
    listing: { items: "products_groups" },
    ...route("GET", path),
    effect: "read",
    output: () => ({
      products_groups: z.array(
        z.object({ id: z.number().int(), display_name: z.string(), account_id: z.number().int() }),
      ),
    }),
  }),
  get: endpoint({
    summary: "Get a product group with its products",
    ...route("GET", `${path}/{group_name}`),
    effect: "read",
    input: () => z.object(named()),
    output: () => ({
      products_group: z.object({
        display_name: z.string(),
        created_at: timestamp(),
        updated_at: timestamp(),
        products_apps: z.array(z.object({ sku: z.string(), product_url: z.string() })),
      }),
    }),
  }),
  update: endpoint({
    summary: "Add products to a group or remove products from it",
    overwrites: { question: "Change the products of the group {group_name}" },
    ...route("PUT", `${path}/{group_name}`),
    effect: "repeatable",
    roles: ["importer"],
    input: () => ({
      ...named(),
      product_ids_to_add: productIds(),
      product_ids_to_remove: productIds(),
      ...outcomesInput(),
    }),
    /** With `details`, one outcome for each product to add, then one for each product to remove. */
    output: () => z.object(outcomesOutput()),
    reply: statusWith,
  }),
  delete: endpoint({
    summary: "Delete an empty product group",
    destroys: { question: "Delete the group {group_name}" },
    ...route("DELETE", `${path}/{group_name}`),
    effect: "repeatable",
    roles: ["importer"],
    input: () => z.object(named()),
  }),
};
