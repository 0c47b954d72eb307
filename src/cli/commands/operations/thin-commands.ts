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
    summary: "List products",
    examples: [
      "starpost products list --limit 20",
      "starpost products list --updated-at-min 2026-01-01T00:00:00Z --format csv > products.csv",
    ],
  },
  "products missed": {
    operation: "products.missed",
    summary: "List order lines that were skipped because of an invalid product ID",
    defaults: { missed_products_ids: "all" },
    examples: ["starpost products missed", "starpost products missed --format csv > missed.csv"],
  },
  "products promoted": {
    operation: "products.promoted",
    summary: "List promoted products",
    examples: ["starpost products promoted", "starpost products promoted --json | jq '.[].name'"],
  },
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
  "orders create": {
    operation: "orders.create",
    summary: "Create one order",
    examples: [
      `starpost orders create --order-id 1001 --email ann@mail.example --customer-name 'Ann Lee' --order-date 2026-01-31 --platform general --products '{"teapot": {"name": "Teapot", "url": "https://shop.example/teapot"}}'`,
      "starpost orders create --input order.json --send-mail",
    ],
  },
  "coupons list": {
    operation: "coupons.list",
    summary: "List coupon codes",
    examples: ["starpost coupons list", "starpost coupons list --details --format csv > codes.csv"],
  },
  "coupons stats": {
    operation: "coupons.stats",
    summary: "Count coupon codes by action",
    examples: ["starpost coupons stats", "starpost coupons stats --json"],
  },
  "coupons delete": {
    operation: "coupons.delete",
    summary: "Delete all coupon codes of an action",
    examples: [
      "starpost coupons delete --action map_review",
      "starpost coupons delete --action map_share --yes",
    ],
  },
  "unsubscribers list": {
    operation: "unsubscribers.list",
    summary: "List unsubscribed addresses",
    examples: [
      "starpost unsubscribers list --limit 50",
      "starpost unsubscribers list --json | jq -r '.[].user_email'",
    ],
  },
  "groups list": {
    operation: "groups.list",
    summary: "List product groups",
    examples: ["starpost groups list", "starpost groups list --json"],
  },
  "groups get": {
    operation: "groups.get",
    summary: "Show a product group and its products",
    examples: ["starpost groups get teapots", "starpost groups get teapots --json"],
  },
  "groups create": {
    operation: "groups.create",
    summary: "Create a product group",
    arguments: ["group_name"],
    examples: ["starpost groups create teapots", "starpost groups create 'Green teas' --json"],
  },
  "groups update": {
    operation: "groups.update",
    summary: "Add products to a product group or remove products from it",
    examples: [
      "starpost groups update teapots --product-ids-to-add teapot --product-ids-to-add samovar",
      "starpost groups update teapots --product-ids-to-remove samovar",
    ],
  },
  "groups delete": {
    operation: "groups.delete",
    summary: "Delete an empty product group",
    examples: ["starpost groups delete teapots", "starpost groups delete teapots --yes"],
  },
  "reviews list": {
    operation: "reviews.list",
    summary: "List reviews",
    examples: [
      "starpost reviews list --since-date 2026-01-01 --limit 20",
      "starpost reviews list --deleted --details --json",
    ],
  },
  "reviews get": {
    operation: "reviews.get",
    summary: "Show a review",
    examples: ["starpost reviews get 12", "starpost reviews get 12 --json | jq -r .review.content"],
  },
  "reviews create": {
    operation: "reviews.create",
    summary: "Create a review and send its author a verification email",
    examples: [
      "starpost reviews create --sku teapot --product-title Teapot --product-url https://shop.example/teapot --display-name 'Ann Lee' --email ann@mail.example --review-title 'A good pot' --review-content 'It pours well' --review-score 5",
      "starpost reviews create --input review.json",
    ],
  },
  "reviews comment": {
    operation: "reviews.comment",
    summary: "Comment on a review as the store",
    examples: [
      "starpost reviews comment 12 --content 'Thank you!'",
      "starpost reviews comment 12 --input comment.json",
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
  "reviews history": {
    operation: "reviews.history",
    summary: "List who published or hid a review, when, and why",
    examples: ["starpost reviews history 12", "starpost reviews history 12 --json"],
  },
  "questions list": {
    operation: "questions.list",
    summary: "List the questions about a product, with their answers",
    examples: ["starpost questions list teapot", "starpost questions list teapot --json"],
  },
  "questions ask": {
    operation: "questions.sendConfirmation",
    summary: "Ask a question and send its author a confirmation email",
    examples: [
      "starpost questions ask --product-id teapot --product-title Teapot --product-url https://shop.example/teapot --display-name 'Ann Lee' --email ann@mail.example --review-content 'Does it whistle?'",
      "starpost questions ask --input question.json",
    ],
  },
  "questions answer": {
    operation: "answers.create",
    summary: "Answer a question as the store or as a customer",
    examples: [
      "starpost questions answer 3 --content 'Yes, it does.'",
      "starpost questions answer 3 --content 'Mine does.' --display-name Bo --email bo@mail.example",
    ],
  },
  "mail forecast": {
    operation: "emails.forecast",
    summary: "Forecast the review-request emails that existing orders would trigger",
    examples: ["starpost mail forecast", "starpost mail forecast --since-purchase-id 100 --json"],
  },
  "account features": {
    operation: "account.features",
    summary: "List the account's features and whether they are on",
    examples: ["starpost account features", "starpost account features --json"],
  },
  "account set-feature": {
    operation: "account.setFeature",
    summary: "Turn a feature of the account on or off",
    examples: [
      "starpost account set-feature --feature dynamic_coupons --enabled",
      "starpost account set-feature --feature dynamic_coupons --no-enabled",
    ],
  },
  "account set-platform": {
    operation: "account.setPlatform",
    summary: "Set the account's e-commerce platform",
    examples: [
      "starpost account set-platform --shop-domain http://shop.example --platform-type-id 2",
      "starpost account set-platform --input platform.json",
    ],
  },
} as const satisfies Readonly<Record<string, ThinCommand>>;

export type ThinCommandName = keyof typeof thinCommands;

export function thinCommand(name: ThinCommandName): Command {
  const { operation, ...presentation }: ThinCommand = thinCommands[name];
  return operationCommand(operation, { name, ...presentation });
}
