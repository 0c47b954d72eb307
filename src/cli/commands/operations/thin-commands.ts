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
  "coupons list": { operation: "coupons.list", summary: "List coupon codes" },
  "coupons stats": { operation: "coupons.stats", summary: "Count coupon codes by action" },
  "coupons delete": { operation: "coupons.delete", summary: "Delete all coupon codes of an action" },
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
  "reviews create": { operation: "reviews.create" },
  "reviews comment": { operation: "reviews.comment" },
  "reviews edit-comment": {
    operation: "reviews.editComment",
    examples: [
      "starpost reviews edit-comment 12 --content 'Thank you, Ann!'",
      "starpost reviews edit-comment 12 --content 'Thank you!' --reason 'Named the customer' --by Bo",
    ],
  },
  "reviews delete-comment": {
    operation: "reviews.deleteComment",
    examples: [
      "starpost reviews delete-comment 12",
      "starpost reviews delete-comment 12 --reason 'Wrong product' --by Bo --yes",
    ],
  },
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
  "reviews requeue": {
    operation: "reviews.requeue",
    summary: "Return a review to the moderation queue",
    examples: ["starpost reviews requeue 12", "starpost reviews requeue 12 --reason 'Hidden by mistake' --by Ann"],
  },
  "reviews history": { operation: "reviews.history" },
  "reviews rules list": {
    operation: "reviewRules.list",
    examples: ["starpost reviews rules list", "starpost reviews rules list --json"],
  },
  "reviews rules add": {
    operation: "reviewRules.add",
    arguments: ["action"],
    examples: [
      "starpost reviews rules add hold --word casino --word 'free money'",
      "starpost reviews rules add reject --links 3 --verification anonymous --reason Spam",
      "starpost reviews rules add publish --min-score 4 --verification verified",
    ],
  },
  "reviews rules delete": {
    operation: "reviewRules.delete",
    examples: ["starpost reviews rules delete 3", "starpost reviews rules delete 3 --yes"],
  },
  "reviews rules test": {
    operation: "reviewRules.test",
    hooks: async () => (await import("../reviews/rule-test-hooks.ts")).ruleTestHooks,
    examples: [
      "starpost reviews rules test --content 'Win at our casino' --score 5",
      "starpost reviews rules test --review-id 12 --verification verified_buyer",
    ],
  },
  "questions ask": { operation: "questions.sendConfirmation" },
  "questions answer": {
    operation: "answers.create",
    examples: [
      "starpost questions answer 3 --content 'Yes, it does.'",
      "starpost questions answer 3 --content 'Mine does.' --display-name Bo --email bo@mail.example",
    ],
  },
  "questions edit-answer": {
    operation: "answers.edit",
    examples: [
      "starpost questions edit-answer 5 --content 'Yes, up to 2 l.'",
      "starpost questions edit-answer 5 --content 'Yes.' --reason 'Wrong volume' --by Bo",
    ],
  },
  "questions delete-answer": {
    operation: "answers.delete",
    examples: [
      "starpost questions delete-answer 5",
      "starpost questions delete-answer 5 --reason 'Advertises a shop' --by Bo --yes",
    ],
  },
  "questions publish": {
    operation: "questions.setPublished",
    summary: "Publish a question that is hidden or unconfirmed",
    preset: { published: true },
    examples: ["starpost questions publish 3", "starpost questions publish 3 --reason 'Confirmed by phone' --by Bo"],
  },
  "questions hide": {
    operation: "questions.setPublished",
    summary: "Hide a question with its answers",
    preset: { published: false },
    examples: ["starpost questions hide 3", "starpost questions hide 3 --reason 'Names a person' --by Bo"],
  },
  "questions delete": {
    operation: "questions.delete",
    examples: ["starpost questions delete 3", "starpost questions delete 3 --reason 'Spam' --by Bo --yes"],
  },
  "questions history": {
    operation: "questions.history",
    examples: ["starpost questions history 3", "starpost questions history 3 --json"],
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
      "starpost account set --retain-emails 90d --retain-webhooks 30d",
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
