import { failedError } from "../../../config/user-error.ts";
import { emailKeyOf } from "../../../contract/email-address.ts";
import { actorNames } from "../../../contract/people.ts";
import { emailTypes, maxUnsubscribersPerCall } from "../../../contract/unsubscribers.ts";
import { nameEmailType } from "../../../contract/emails/type-names.ts";
import { listAll, listUnsubscribers } from "../../../service/listings.ts";
import type { Service } from "../../../service/service.ts";
import type { OutputOf } from "../../../service/transport.ts";
import { countOf } from "../../../terminal/plural.ts";
import type { Context } from "../../program/context.ts";

type Unsubscriber = OutputOf<"unsubscribers.list">["unsubscribers"][number];

interface ChangeRequest {
  readonly addresses: readonly string[];
  readonly types: readonly string[] | undefined;
  readonly verb: "massCreate" | "massDelete";
}

/**
 * Unsubscribes addresses from email types, or resumes emails of these types.
 * Assumed: without a type, the command applies to emails of every type.
 */
export async function changeAddresses(context: Context, { addresses, types, verb }: ChangeRequest) {
  const ids = types ? [...new Set(types)] : Object.keys(emailTypes);
  const emails = [...new Set(addresses)];
  const perCall = Math.floor(maxUnsubscribersPerCall / ids.length);
  const { unsubscribers, errors } = await context.withService(async (service) => {
    const results: Changed[] = [];
    for (let at = 0; at < emails.length; at += perCall) {
      results.push(await changePart(service, { addresses: emails.slice(at, at + perCall), types: ids, verb }));
    }
    return {
      unsubscribers: results.flatMap((result) => result.unsubscribers),
      errors: results.flatMap((result) => result.errors),
    };
  });
  const rejected = new Set(errors.map(({ value }) => value));
  for (const value of rejected) {
    const reasons = new Set(errors.filter((error) => error.value === value).map(({ error }) => error));
    context.messages.warn(`${value}: ${[...reasons].join("; ")}`);
  }
  const changed = emails.filter((email) => !rejected.has(email));
  if (changed.length > 0) context.messages.info(describeChange(verb, changed, ids));
  return { addresses: emails, email_type_ids: ids.map(Number), unsubscribers, errors };
}

type Response = OutputOf<"unsubscribers.massCreate">;
type Changed = Readonly<Record<"unsubscribers", NonNullable<Response["unsubscribers"]>>> &
  Readonly<Record<"errors", NonNullable<Response["errors"]>>>;

/** Changes as many addresses as one call accepts. */
async function changePart(
  { unsubscribers: service }: Service,
  { addresses, types = [], verb }: ChangeRequest,
): Promise<Changed> {
  const email_list = Object.fromEntries(types.map((id) => [id, [...addresses]]));
  const { unsubscribers = [], outcomes = [], errors } = await service[verb]({ email_list, details: true });
  const listed = Object.values(email_list).flat();
  const dropped = outcomes.flatMap((outcome, at) =>
    (outcome.dropped ?? []).map(({ error }) => ({ value: listed[at] ?? "", error })),
  );
  return { unsubscribers, errors: errors ?? dropped };
}

function describeChange(verb: ChangeRequest["verb"], emails: readonly string[], ids: readonly string[]): string {
  const subject = emails.length <= 3 ? emails.join(", ") : countOf(emails.length, "address", "addresses");
  const types =
    ids.length === Object.keys(emailTypes).length
      ? "all emails"
      : `emails of type ${ids.map((id) => nameEmailType(Number(id))).join(", ")}`;
  return verb === "massCreate" ? `Unsubscribed ${subject} from ${types}.` : `Resumed ${types} to ${subject}.`;
}

/** Finds those of the addresses whose owners unsubscribed themselves from one of the types. */
export async function findOwn(
  context: Context,
  { addresses, types }: Pick<ChangeRequest, "addresses" | "types">,
): Promise<string[]> {
  const wanted = new Set(addresses.map(emailKeyOf));
  const ids = new Set((types ?? Object.keys(emailTypes)).map(Number));
  const found = new Set<string>();
  await context.withService(async (service) => {
    for await (const page of listUnsubscribers(service)) {
      for (const { user_email: email, email_type_id: type, unsubscirbed_by_name: by } of page) {
        if (by === actorNames.user && ids.has(type) && wanted.has(emailKeyOf(email))) found.add(email);
      }
    }
  });
  return [...found];
}

/**
 * Finds the email types that an address is unsubscribed from. Reads the complete list, because no operation looks up a
 * single address.
 * @throws UserError `failed` if the address is not unsubscribed
 */
export async function findAddress(context: Context, address: string) {
  const wanted = emailKeyOf(address.trim());
  const rows = await context.withService(async (service) => {
    const matches: Unsubscriber[] = [];
    for await (const page of listAll(service, "unsubscribers.list", { input: {} })) {
      const unsubscribers = page as readonly Unsubscriber[];
      matches.push(...unsubscribers.filter(({ user_email }) => emailKeyOf(user_email) === wanted));
    }
    return matches;
  });
  if (rows.length === 0) {
    throw failedError(
      `${address} is not unsubscribed`,
      "To list all unsubscribed addresses, run `starpost unsubscribers list`.",
    );
  }
  const names: Readonly<Record<number, string>> = emailTypes;
  return rows.map((row) =>
    Object.assign(row, { email_type: names[row.email_type_id] ?? "", type: nameEmailType(row.email_type_id) }),
  );
}
