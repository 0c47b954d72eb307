import { UserError } from "../../../config/user-error.ts";
import { emailTypes } from "../../../contract/unsubscribers.ts";
import { countOf } from "../../../terminal/plural.ts";
import type { Service } from "../../../service/service.ts";
import { listAll } from "../../../service/list-all.ts";
import type { OutputOf } from "../../../service/transport.ts";
import { withService } from "../../program/with-service.ts";
import type { Context } from "../../program/context.ts";
import { describeEmailType, readEmailTypes } from "./email-types.ts";

type Answer = OutputOf<"unsubscribers.massCreate">;

/** What became of addresses that were to get no mails, or to get them again. */
export interface AddressChange {
  readonly addresses: readonly string[];
  readonly email_type_ids: readonly number[];
  readonly unsubscribers: NonNullable<Answer["unsubscribers"]>;
  readonly errors: NonNullable<Answer["errors"]>;
}

interface Request {
  readonly addresses: readonly string[];
  readonly types: readonly string[] | undefined;
  readonly verb: "massCreate" | "massDelete";
}

/** Adds or takes addresses for the types that are named, and says what came of it. */
export async function changeAddresses(
  context: Context,
  { addresses, types, verb }: Request,
): Promise<AddressChange> {
  const ids = readEmailTypes(types);
  const emails = [...new Set(addresses)];
  const email_list = Object.fromEntries(ids.map((id) => [id, emails]));
  const answer = await withService(context, ({ unsubscribers }) => unsubscribers[verb]({ email_list }));
  const { unsubscribers = [], errors = [] } = answer;
  const refused = new Set(errors.map(({ value }) => value));
  for (const value of refused) {
    const why = [...new Set(errors.filter((one) => one.value === value).map(({ error }) => error))];
    context.messages.warn(`${value}: ${why.join("; ")}`);
  }
  const done = emails.filter((email) => !refused.has(email));
  if (done.length > 0) context.messages.info(wordChange(verb, done, ids));
  return { addresses: emails, email_type_ids: ids.map(Number), unsubscribers, errors };
}

function wordChange(verb: Request["verb"], done: readonly string[], ids: readonly string[]): string {
  const who = done.length <= 3 ? done.join(", ") : countOf(done.length, "address", "addresses");
  const of = ids.length === Object.keys(emailTypes).length ? "of any type" : `of type ${ids.join(", ")}`;
  const gets = done.length === 1 ? "gets" : "get";
  return verb === "massCreate" ? `${who} ${gets} no more mails ${of}.` : `${who} ${gets} mails ${of} again.`;
}

/**
 * The types of mail that an address gets none of, found by reading the whole list: no call looks for one address.
 * @throws UserError `failed` where the address is on no list
 */
export async function findAddress(context: Context, address: string) {
  const wanted = address.trim().toLowerCase();
  const found = await withService(context, async (service) => readMatches(service, wanted));
  if (found.length > 0) {
    return found.map((row) => Object.assign(row, { about: describeEmailType(Number(row["email_type_id"])) }));
  }
  throw new UserError(
    "failed",
    `${address} is not unsubscribed from any mails`,
    "Addresses are compared whole, without regard to case: `starpost unsubscribers list` lists them all.",
  );
}

async function readMatches(service: Service, wanted: string) {
  const found: Record<string, unknown>[] = [];
  for await (const page of listAll(service, "unsubscribers.list", { input: {} })) {
    found.push(...page.filter(({ user_email: email }) => String(email).toLowerCase() === wanted));
  }
  return found;
}
