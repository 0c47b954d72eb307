import type { OperationName } from "../../../contract/index.ts";
import type { Command } from "../../program/command.ts";
import { operationCommand, type OperationCommand } from "./operation-command.ts";

interface ThinCommand extends Omit<OperationCommand, "name" | "isCalledByName"> {
  readonly operation: OperationName;
}

/** Commands that call one operation and need no code of their own. */
export const thinCommands = {
  "products list": {
    operation: "core.listProducts",
    examples: [
      "starpost products list --limit 20",
      "starpost products list --updated-at-min 2026-01-01T00:00:00Z --format csv > products.csv",
    ],
  },
  "products missed": { operation: "products.missed", defaults: { missed_products_ids: "all" } },
  "products promoted": { operation: "products.promoted" },
  "products set-promoted": {
    operation: "products.setPromoted",
    summary: "Set the promoted products (none: the service selects them)",
    examples: [
      "starpost products set-promoted --product-ids teapot --product-ids mug",
      "echo '{\"product_ids\": []}' | starpost products set-promoted --input -",
    ],
  },
  "orders list": {
    operation: "orders.list",
    summary: "List order lines",
    examples: [
      "starpost orders list --limit 20",
      "starpost orders list --since-date 2026-01-01 --details --format csv > orders.csv",
    ],
  },
  "coupons list": { operation: "coupons.list", summary: "List coupon codes" },
  "coupons stats": { operation: "coupons.stats", summary: "Count coupon codes by action" },
  "coupons delete": { operation: "coupons.delete", summary: "Delete all coupon codes of an action" },
  "unsubscribers list": { operation: "unsubscribers.list" },
  "groups list": { operation: "groups.list" },
  "groups get": { operation: "groups.get", summary: "Show a product group and its products" },
  "groups create": { operation: "groups.create", arguments: ["group_name"] },
  "groups update": {
    operation: "groups.update",
    summary: "Add products to a product group or remove products from it",
    examples: [
      "starpost groups update teapots --product-ids-to-add teapot --product-ids-to-add samovar",
      "starpost groups update teapots --product-ids-to-remove samovar",
    ],
  },
  "groups delete": { operation: "groups.delete" },
  "reviews list": {
    operation: "reviews.list",
    summary: "List reviews",
    examples: [
      "starpost reviews list --since-date 2026-01-01 --limit 20",
      "starpost reviews list --deleted --details --json",
      "starpost reviews list --state held",
    ],
  },
  "reviews create": { operation: "reviews.create" },
  "reviews comment": { operation: "reviews.comment" },
  "reviews publish": {
    operation: "reviews.setPublished",
    summary: "Publish a review that is hidden",
    preset: { published: true },
    defaults: { reason: "published with the starpost command" },
    examples: [
      "starpost reviews publish 12",
      "starpost reviews publish 12 --reason 'Verified with the customer' --by Ann",
    ],
  },
  "reviews hide": {
    operation: "reviews.setPublished",
    summary: "Hide a published review",
    preset: { published: false },
    defaults: { reason: "hidden with the starpost command" },
    examples: ["starpost reviews hide 12", "starpost reviews hide 12 --reason 'Names a person' --by Ann"],
  },
  "reviews history": { operation: "reviews.history" },
  "questions list": { operation: "questions.list" },
  "questions ask": { operation: "questions.sendConfirmation" },
  "questions answer": {
    operation: "answers.create",
    examples: [
      "starpost questions answer 3 --content 'Yes, it does.'",
      "starpost questions answer 3 --content 'Mine does.' --display-name Bo --email bo@mail.example",
    ],
  },
  "mail forecast": {
    operation: "emails.forecast",
    examples: ["starpost mail forecast", "starpost mail forecast --since-purchase-id 100 --json"],
  },
  "account set": {
    operation: "account.set",
    examples: [
      "starpost account set --name 'Tea & Cups'",
      "starpost account set --bottom-lines-delay 0",
      "starpost account set --published-reviews verified",
    ],
    hooks: async () => (await import("../account/set-hooks.ts")).setHooks,
  },
  "account features": { operation: "account.features" },
  "account set-feature": { operation: "account.setFeature" },
  "account set-platform": { operation: "account.setPlatform" },
} as const satisfies Readonly<Record<string, ThinCommand>>;

export type ThinCommandName = keyof typeof thinCommands;

export function thinCommand(name: ThinCommandName): Command {
  const { operation, ...presentation }: ThinCommand = thinCommands[name];
  return operationCommand(operation, { name, ...presentation });
}
