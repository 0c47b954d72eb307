import { failedError, usageError } from "../../../config/user-error.ts";
import { ServiceError } from "../../../contract/errors.ts";
import type { ExplainedDecision, RuleResult } from "../../../contract/index.ts";
import type { Service } from "../../../service/service.ts";
import type { OutputOf } from "../../../service/transport.ts";
import { formatSections, type Section } from "../../../terminal/sections.ts";
import { text, type View } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import type { Context } from "../../program/context.ts";
import { limitFlag, readEmail } from "../../program/flag-values.ts";

/** The number of orders that a table shows by default. */
const shownOrders = 10;

type Explanation = OutputOf<"emails.explain">;

export default command({
  summary: "Explain why an order's review-request emails were or were not sent",
  calls: "read",
  argument: "[order_id]",
  examples: [
    "starpost mail why 1001",
    "starpost mail why 1001 --product teapot --json",
    "starpost mail why --email ann@mail.example",
  ],
  flags: {
    product: { value: "<product_id>", description: "only this product of the order", exclusive: ["email"] },
    email: { value: "<address>", description: "all orders of this customer, newest first", read: readEmail },
    limit: {
      ...limitFlag,
      description: `maximum number of orders with --email (default: ${shownOrders} in a table, otherwise all)`,
    },
  },
  notes: ["With `--email`, `--json` prints an array, with one explanation per order."],
  run: async (context, { arguments: [orderId], flags: { product, email, limit } }) => {
    if (email === undefined) {
      if (orderId !== undefined) return context.withService((service) => explainOrder(service, orderId, product));
      throw usageError(
        "missing order ID or --email",
        "For example: `starpost mail why 1001` or `starpost mail why --email ann@mail.example`.",
      );
    }
    if (orderId !== undefined) throw usageError("--email cannot be used with an order ID");
    return context.withService((service) => explainOrdersOf(context, service, { email, limit }));
  },
  render: (found: Explanation | readonly Explanation[]) =>
    "decisions" in found ? viewOfWhy([found]) : viewOfWhy(found, ["order_id"]),
});

async function explainOrder(service: Service, order_id: string, product_id?: string): Promise<Explanation> {
  try {
    return await service.emails.explain({ order_id, ...(product_id !== undefined && { product_id }) });
  } catch (error) {
    throw explainNotFound(error, order_id, product_id);
  }
}

/** Explains the newest orders of an address. */
async function explainOrdersOf(
  context: Context,
  service: Service,
  { email, limit: given }: { readonly email: string; readonly limit: number | undefined },
): Promise<readonly Explanation[]> {
  const { findLimit, reportLimit } = await import("../../program/read-records.ts");
  const limit = findLimit(context, given, shownOrders) ?? Infinity;
  const orderIds = await findOrderIds(service, email, limit + 1);
  if (orderIds.length === 0) {
    context.messages.info(
      `No orders of ${email} found. To show the customer's other records, run \`starpost customers show ${email}\`.`,
    );
  }
  if (orderIds.length > limit) reportLimit(context, limit);
  const explained: Explanation[] = [];
  for (const orderId of orderIds.slice(0, limit)) explained.push(await explainOrder(service, orderId));
  return explained;
}

/** Finds the newest orders of an address. Several lines can belong to one order. */
async function findOrderIds(service: Service, email: string, limit: number): Promise<readonly string[]> {
  const found = new Set<string>();
  const { listAll } = await import("../../../service/listings.ts");
  const pages = listAll<OutputOf<"orders.search">["purchases"][number]>(service, "orders.search", { input: { email } });
  for await (const lines of pages) {
    for (const { order_id } of lines) if (order_id !== null) found.add(order_id);
    if (found.size >= limit) break;
  }
  return [...found].slice(0, limit);
}

function explainNotFound(error: unknown, orderId: string, productId: string | undefined): unknown {
  if (!(error instanceof ServiceError)) return error;
  if (error.record === "Product" && productId !== undefined) {
    const hint = `To list its products, run \`starpost mail why ${orderId}\`.`;
    return failedError(`order ${orderId} has no product ${productId}`, hint, error);
  }
  if (error.record !== "Order") return error;
  return failedError(
    `order ${orderId} not found`,
    "The service never received it, or received it under another ID. IDs are case-sensitive, and leading zeros count.",
    error,
  );
}

const resultLabels: Readonly<Record<RuleResult, string>> = {
  passed: "passed",
  decides: "SUPPRESSES",
  off: "off",
  not_asked: "not evaluated",
};

/** Shows every rule and its result, followed by a sentence that a store can send to its customer. */
function viewOfWhy(explained: readonly Explanation[], addedColumns: readonly string[] = []): View {
  const lines = explained.flatMap(({ order_id, email, customer_name, order_date, decisions }, at) => [
    ...(at === 0 ? [] : [""]),
    `Order ${order_id} of ${order_date.slice(0, 10)}, ${customer_name} <${email}>`,
    "",
    ...formatSections(decisions.map(describeDecision)),
  ]);
  const rows = explained.flatMap(({ order_id, decisions }) =>
    decisions.flatMap(({ products, rules, decided_by, sentence }) => {
      const product_id = products.map((product) => product.product_id).join(" ");
      return rules.map(({ name: rule, result, description }) => {
        return { order_id, product_id, rule, result, description, decided_by, sentence };
      });
    }),
  );
  return text(lines, rows, [...addedColumns, "product_id", "rule", "result", "description", "decided_by", "sentence"]);
}

function describeDecision({ products, is_whole_order, mail_id, rules, sentence }: ExplainedDecision): Section {
  const names = products.map(({ name, product_id }) => `${name} (${product_id})`).join(", ");
  const heading = is_whole_order ? `Entire order: ${names}` : names;
  return {
    title: mail_id === null ? heading : `${heading}, email ${mail_id}`,
    rows: rules.map(({ name, result, description }) => {
      const reason = result === "decides" ? `: ${description}` : "";
      return [name, `${resultLabels[result]}${reason}`];
    }),
    notes: [
      ...products
        .filter(({ dropped_by }) => dropped_by !== null)
        .map(({ name, dropped_by }) => `  without ${name}: ${dropped_by}`),
      sentence,
    ],
  };
}
