import { usageError } from "../../../config/user-error.ts";
import type { EmailRecord } from "../../../contract/emails/emails.ts";
import { ServiceError } from "../../../contract/errors.ts";
import type { Service } from "../../../service/service.ts";
import { countOf } from "../../../terminal/plural.ts";
import { silent } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { confirmDestruction } from "../../program/confirm.ts";
import type { Context } from "../../program/context.ts";
import { exitStatus } from "../../program/exit-status.ts";
import type { FlagValues } from "../../program/flag.ts";
import { readWholeNumber, stateFlag } from "../../program/flag-values.ts";
import { aboutOne } from "../../program/read-records.ts";
import { checkSelection, readIds, statusOfSelection } from "../../program/selection.ts";
import type { BulkSelection } from "../operations/bulk-run.ts";
import { emailFilters, toEmailQuery } from "./email-filters.ts";
import { describeRecord, formatSentOrDue } from "./email-format.ts";

const waiting = ["queued", "leased"] as const;
const filters = { state: stateFlag(waiting), ...emailFilters } as const;

const bulk: BulkSelection = {
  operation: "emails.cancel",
  idField: "mail_id",
  fieldsOf: () => ({}),
  list: "emails.list",
  queryOf: (flags, nowMs) => {
    const given = flags as FlagValues<typeof filters>;
    return toEmailQuery({ ...given, state: given.state ?? waiting }, nowMs);
  },
  noun: ["email", "emails"],
  verbs: ["Cancel", "Canceled"],
  describe: (record) => {
    const mail = record as unknown as EmailRecord;
    return [String(mail.id), formatSentOrDue(mail), mail.email, mail.category, describeRecord(mail)];
  },
};

export default command({
  summary: "Cancel the unsent emails of an order, a single email, or those that match filters",
  calls: "write",
  argument: "[order_id]",
  examples: [
    "starpost mail cancel 1001",
    "starpost mail cancel 1001 --product teapot",
    "starpost mail cancel --email-id 12",
    "starpost mail cancel --category reminder --since 7d",
    "starpost mail list --state queued --format ndjson --jq .id | starpost mail cancel --email-id - --yes",
  ],
  flags: {
    product: {
      value: "<product_id>",
      description: "only emails about this product of the order",
      exclusive: ["email-id"],
      isRepeatable: true,
    },
    "email-id": {
      value: "<id>",
      description: "cancel this email; - for the IDs on standard input",
      isRepeatable: true,
    },
    ...filters,
  },
  run: async (context, { arguments: [orderId], flags }) => {
    const { "email-id": emailIds = [], product = [] } = flags;
    const filter = Object.keys(filters).find((name) => flags[name as keyof typeof filters] !== undefined);
    const selection = emailIds.length > 0 ? "email-id" : filter;
    if (orderId !== undefined && selection !== undefined) {
      throw usageError(`--${selection} cannot be used with an order ID`);
    }
    if (orderId !== undefined) return cancelOrder(context, orderId, product);
    checkSelection(emailIds, filter === undefined ? [] : [filter], [
      "starpost mail cancel 1001",
      "starpost mail cancel --email-id 12",
    ]);
    const [id = "", ...others] = emailIds;
    if (filter === undefined && id !== "-" && others.length === 0) {
      return cancelEmail(context, readWholeNumber(id, "--email-id"));
    }
    const { runBulk } = await import("../operations/bulk-run.ts");
    const ids = emailIds.length > 0 ? await readIds(context.io, emailIds, "--email-id") : undefined;
    return runBulk(context, bulk, { ids, flags });
  },
  render: () => silent(),
  exitStatus: (data) => ("skipped" in data ? statusOfSelection(data) : exitStatus.done),
});

/** Assumed: as in the API, the emails of an order that has not arrived yet can be canceled; a message points this out. */
async function cancelOrder(context: Context, orderId: string, products: readonly string[]) {
  const about = `of order ${orderId}${products.length === 0 ? "" : ` about ${products.join(", ")}`}`;
  const emails = `the emails ${about}`;
  const { pending, warning, isDone } = await context.withService(async (service) => {
    const { mails } = await service.emails.list({ order_id: orderId, state: "queued,leased", count: 1_000 });
    const found = mails.filter(({ product_id }) => products.length === 0 || products.includes(product_id ?? ""));
    const isKnown = found.length > 0;
    return {
      pending: found,
      warning: isKnown ? "" : await describeUnknown(service, orderId, products),
      isDone: isKnown && (await areCanceled(service, orderId, found)),
    };
  });
  if (isDone) {
    context.messages.info(`Nothing to do: ${emails} are already canceled.`);
    return { order_id: orderId, products, waiting: pending.map(({ id }) => id) };
  }
  const queued = pending.length === 0 ? emails : `${countOf(pending.length, "queued email")} ${about}`;
  await confirmDestruction(context, `Cancel ${queued}? ${warning}This cannot be undone.`);
  await context.withService((service) =>
    service.orders.cancelEmails({
      orders: [{ order_id: orderId, ...(products.length > 0 && { skus: [...products] }) }],
    }),
  );
  const details = `For details, run \`starpost mail why ${orderId}\`.`;
  const known =
    pending.length > 0
      ? `They stay in the queue until they are due and are then not sent. ${details}`
      : "No email is queued; emails queued later are not sent.";
  context.messages.info(
    warning === "" ? `Canceled ${emails}. ${known}` : `${warning}If it is imported later, no emails will be sent.`,
  );
  return { order_id: orderId, products, waiting: pending.map(({ id }) => id) };
}

/** Whether the order's emails, which stay in the queue until they are due, are all canceled. */
async function areCanceled(service: Service, orderId: string, queued: readonly { readonly id: number }[]) {
  const { decisions } = await service.emails.explain({ order_id: orderId });
  const canceled = new Set(decisions.flatMap((one) => (one.decided_by === "mails_stopped" ? one.mail_id : [])));
  return queued.every(({ id }) => canceled.has(id));
}

/** Warns about an order ID or product IDs that may be wrong, because the account does not have them. */
async function describeUnknown(service: Service, orderId: string, products: readonly string[]): Promise<string> {
  try {
    const { decisions } = await service.emails.explain({ order_id: orderId });
    const known = new Set(decisions.flatMap((decision) => decision.products.map((one) => one.product_id)));
    const unknown = products.filter((id) => !known.has(id));
    return unknown.length === 0 ? "" : `Order ${orderId} has no product ${unknown.join(", ")} yet. `;
  } catch (error) {
    if (error instanceof ServiceError && error.record === "Order") {
      return `No order ${orderId} exists. `;
    }
    throw error;
  }
}

async function cancelEmail(context: Context, emailId: number) {
  const { mail } = await context.withService((service) =>
    aboutOne("Mail", emailId, () => service.emails.get({ mail_id: emailId })),
  );
  if (mail.state === "not_sent" && mail.reason === "stopped_by_hand") {
    context.messages.info(`Nothing to do: email ${emailId} to ${mail.email} is already canceled.`);
    return { mail };
  }
  await confirmDestruction(context, `Cancel email ${emailId} to ${mail.email}? This cannot be undone.`);
  const canceled = await context.withService((service) =>
    aboutOne("Mail", emailId, () => service.emails.cancel({ mail_id: emailId })),
  );
  context.messages.info(`Canceled email ${emailId} to ${mail.email}.`);
  return canceled;
}
