import type { OperationName } from "../../../contract/index.ts";
import { callOf, type Service } from "../../../service/service.ts";
import { countOf } from "../../../terminal/plural.ts";
import type { Row, RowStream } from "../../../terminal/row-stream.ts";
import type { Flags, FlagValues } from "../../program/flag.ts";
import { checkColumns } from "../../program/output/print.ts";
import type { Context } from "../../program/context.ts";
import { listRecords } from "../../program/read-records.ts";
import { type OwnAccount, readInput } from "./input.ts";
import type { OperationCard } from "./operation-card.ts";
import { flagNameOf, needsOwnAccount, needsPassword } from "./operation-flags.ts";
import { countRejected } from "./view.ts";

/** What a command does in addition to the call. */
export interface OperationHooks {
  /** Completes and checks the input. Called before a connection is opened. */
  readonly adjustInput?: (input: Row, from: { readonly clock: () => number; readonly flags: FlagValues<Flags> }) => Row;
  /** The question before data is destroyed, instead of that of the contract. Not called if it is not asked. */
  readonly question?: (service: Service, input: Row) => Promise<string>;
  /** Reports the result, and returns the data of the command. */
  readonly readResponse?: (context: Context, input: Row, response: Row) => Row;
}

interface Target {
  readonly operation: OperationName;
  readonly card: OperationCard;
  readonly hooks?: OperationHooks | undefined;
}

interface CommandInput {
  readonly arguments: readonly string[];
  readonly flags: FlagValues<Flags>;
}

/** Calls the operation of a command. For a list, reads all pages. */
export async function runOperation(
  context: Context,
  { operation, card, hooks }: Target,
  { arguments: positional, flags: given }: CommandInput,
): Promise<RowStream | Row> {
  const { file, flags } = await readFiles(context, card, given);
  const password = await readPassword(context, card, flags["password-stdin"] === true);
  const { columns: wanted } = context.globals;
  if (card.listing) checkColumns(wanted, card.columns);
  const needsDetails = wanted?.some((column) => card.detailColumns?.includes(column)) === true;
  const read = (own: OwnAccount) => {
    const input = readInput(card, { arguments: positional, flags, file, own, password });
    const detailed = needsDetails ? { details: true, ...input } : input;
    return hooks?.adjustInput?.(detailed, { clock: context.io.clock, flags }) ?? detailed;
  };
  // Report missing fields before opening a connection.
  if (!needsOwnAccount(card)) read({ appKey: "", secret: undefined });
  const connection = await context.connect();
  let isStreamed = false;
  try {
    const secret = needsOwnAccount(card) ? await connection.readSecret() : undefined;
    const input = read({ appKey: connection.appKey, secret });
    if (card.listing) {
      const limit = flags["limit"] as number | undefined;
      const columns = shownColumns[operation] ?? card.columns.slice(0, 7);
      isStreamed = true;
      return listRecords(connection, { operation, input, limit }, { columns, allColumns: card.columns, headings });
    }
    if (card.destroys ?? card.overwrites) {
      const { confirmOperation } = await import("../../program/confirm.ts");
      const question = context.globals.yes ? undefined : await hooks?.question?.(connection.service, input);
      const asked = question === undefined ? card : { destroys: { ...card.destroys, question } };
      await confirmOperation(context, asked, input);
    }
    const response = await callOf(connection.service, operation)(input);
    if (hooks?.readResponse) return hooks.readResponse(context, input, response);
    reportOutcome(context, card, response);
    return response;
  } finally {
    if (!isStreamed) await connection.close();
  }
}

/** Reads the file of `--input`, and those that other flags name, which become the values of the flags. */
async function readFiles({ io }: Context, card: OperationCard, given: FlagValues<Flags>) {
  const flags: Readonly<Record<string, unknown>> = given;
  const fields = card.fields.filter((field) => field.isFile && flags[flagNameOf(field, card)] !== undefined);
  const inputFile = flags["input"] as string | undefined;
  if (fields.length === 0 && inputFile === undefined) return { file: {}, flags: given };
  const { InputFiles, readInputFile } = await import("./input-file.ts");
  const files = new InputFiles(io);
  const read: Record<string, unknown> = {};
  for (const name of fields.map((field) => flagNameOf(field, card))) {
    read[name] = (await files.read(String(flags[name]), `--${name}`)).toString("base64");
  }
  const file = inputFile === undefined ? {} : await readInputFile(io, inputFile, files);
  return { file, flags: { ...flags, ...read } as FlagValues<Flags> };
}

/**
 * Reads the password of a new user, from standard input or from a prompt.
 * @throws UserError `usage`, `interrupted`
 */
async function readPassword(context: Context, card: OperationCard, isOnStdin: boolean): Promise<string | undefined> {
  if (!needsPassword(card)) return undefined;
  if (isOnStdin) {
    const { readSecretLine } = await import("../../program/prompt.ts");
    return readSecretLine(context.io.stdin, "password");
  }
  const { promptPassword } = await import("../../program/prompt.ts");
  const hint = "Pass it on standard input with --password-stdin.";
  return promptPassword(context, "the password", { question: "Password", hint });
}

function reportOutcome({ messages }: Context, { effect }: OperationCard, response: Row): void {
  const rejected = countRejected(response);
  if (rejected > 0) messages.warn(`The service rejected ${countOf(rejected, "item")}. See "errors".`);
  else if (effect !== "read" && Object.keys(response).length === 0) messages.info("Done.");
}

/** The table headings of fields that are misspelled on the wire. */
const headings: Readonly<Record<string, string>> = { unsubscirbed_by_name: "unsubscribed_by" };

/** The default table columns of lists for which the first seven columns are not suitable. */
const shownColumns: Readonly<Record<string, readonly string[]>> = {
  "core.listProducts": ["external_id", "name", "price", "currency", "url", "updated_at"],
  "emails.list": ["id", "category", "email", "state", "due_at", "sent_at", "order_id", "product_id"],
  "orders.list": ["id", "order_id", "order_date", "user_name", "user_email", "product_sku", "product_name"],
  "orders.search": ["id", "order_id", "order_date", "user_name", "user_email", "product_sku", "product_name"],
  "products.missed": ["id", "order_id", "product_sku", "product_name", "user_email", "missed_product_date"],
  "products.search": ["external_id", "name", "price", "currency", "url", "updated_at"],
  "products.promoted": ["position", "name", "price", "currency", "average_score", "total_review", "url"],
  "questions.history": ["id", "created_at", "event", "answer_id", "by", "reason", "previous_content"],
  "questions.list": ["id", "content", "asker.display_name", "created_at"],
  "questions.search": ["id", "created_at", "state", "sku", "content", "total_answers"],
  "reviews.history": ["id", "created_at", "event", "by", "reason", "previous_content"],
  "reviews.list": ["id", "created_at", "score", "sku", "title", "content"],
  "reviews.listByUser": ["id", "created_at", "score", "user.display_name", "title", "content"],
  "reviews.search": ["id", "created_at", "score", "state", "sku", "title", "content"],
  "reviewRules.list": ["id", "action", "description", "reason", "by", "created_at"],
  "reviews.siteWidget": ["id", "created_at", "score", "title", "content", "user.display_name", "votes_up"],
  "reviews.top": ["id", "created_at", "score", "title", "content", "display_name", "product_name"],
  "reviews.widget": ["id", "created_at", "score", "title", "content", "user.display_name", "votes_up"],
  "unsubscribers.search": ["id", "created_at", "user_email", "email_type_id", "unsubscirbed_by_name"],
  "webhookDeliveries.list": ["id", "webhook_id", "event_name", "state", "created_at", "attempts", "reason"],
};
