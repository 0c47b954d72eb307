import type { RowView } from "../../import/item.ts";
import { usageError } from "../../import/import-error.ts";
import type { FileColumn, FileColumns } from "../../import/kind.ts";
import type { Layout } from "../../import/layouts/layout.ts";
import { normalizeName } from "../../import/mapping/names.ts";
import { answerWords, ofConsent, ofCustomers, ofRefusals, ofState, ofSubscription, ownColumns } from "./synonyms.ts";

/** What a customer said about emails; `unknown` is not an answer that can be read. */
export type Answer = "no" | "yes" | "none" | "unknown";

const answers: ReadonlyMap<string, Answer> = new Map(
  Object.entries(answerWords).flatMap(([answer, list]) =>
    list.split(" ").map((word) => [word, answer as Answer] as const),
  ),
);

/** Reads a status, such as `yes`, `Not subscribed`, or `["UNSUBSCRIBE","HARD_BOUNCE"]`: of several, a refusal counts. */
export function readAnswer(value: string): Answer {
  const text = value.trim().toLowerCase();
  if (text === "") return "none";
  const one = answers.get(text.replaceAll(/[\s-]+/g, "_"));
  if (one) return one;
  const several = text.split(/[^\p{L}\p{N}_/-]+/u).filter((word) => word !== "");
  const found = new Set(several.map((word) => answers.get(word.replaceAll("-", "_")) ?? "unknown"));
  return (["unknown", "no", "yes"] as const).find((answer) => found.has(answer)) ?? "none";
}

/** The fields that hold an answer. */
const answerFields = ["consent", "suppressions", "unsubscribed_at"] as const;

/** The number of values that show what a column with a state is about. */
const maxSampled = 1_000;

/**
 * Checks that a file is a list of people to unsubscribe, or states which of them to unsubscribe.
 * @returns the implied fields of its rows: whether it has answers, and whether `yes` means that a person refused
 * @throws ImportError `usage` if it has answers that cannot be read, or is a list of customers without any
 */
export function readConsentColumns(
  { given, columns, columnOf }: FileColumns,
  { remove, force }: { readonly remove: boolean; readonly force: boolean },
): Readonly<Record<string, string>> {
  const found = answerFields.flatMap((field) => columnOf(field) ?? []);
  if (found.length === 0) {
    if (!force) rejectUnknown(given, columns);
    return {};
  }
  if (remove) {
    throw usageError(
      `${given}: '${found[0]?.name}' shows who wants emails, but --remove resubscribes everyone in the file`,
      "remove the rows of people who must not be resubscribed and that column",
    );
  }
  const statuses = ["consent", "suppressions"].flatMap((field) => columnOf(field) ?? []);
  for (const column of statuses) checkValues(given, column);
  const isOfRefusals = ofRefusals.test(columnOf("consent")?.name ?? "");
  return { has_answers: "true", ...(isOfRefusals && { yes_refuses: "true" }) };
}

function checkValues(given: string, { name, values }: FileColumn): void {
  for (const value of values) {
    if (readAnswer(value) !== "unknown") continue;
    throw usageError(
      `${given}: unknown value ${JSON.stringify(value.slice(0, 60))} in '${name}', which shows who wants emails`,
      "write yes or no, or leave the cell empty if the person did not answer",
    );
  }
}

function rejectUnknown(given: string, columns: readonly FileColumn[]): void {
  const anyway = "to unsubscribe everyone in the file, pass --force";
  const unknown = columns.find((column) => isAboutConsent(column));
  if (unknown) {
    const meaning = ofRefusals.test(unknown.name) ? "`yes` means unsubscribed" : "`no` means unsubscribed";
    throw usageError(
      `${given}: '${unknown.name}' seems to show who wants emails`,
      `to unsubscribe only those who do not, pass --map consent='${unknown.name}' (${meaning}); ${anyway}`,
    );
  }
  const sign = columns.find(({ name }) => ofCustomers.has(normalizeName(name)));
  if (sign) {
    throw usageError(
      `${given}: the file lists customers ('${sign.name}'), but no column shows who unsubscribed`,
      `export the people who unsubscribed, or add a column email_consent with yes or no; ${anyway}`,
    );
  }
}

function isAboutConsent({ name, values }: FileColumn): boolean {
  if (ownColumns.has(normalizeName(name))) return false;
  if (ofConsent.test(name) && !/sms|whatsapp|push/i.test(name)) return true;
  if (!ofState.test(name)) return false;
  let sampled = 0;
  for (const value of values) {
    if (ofSubscription.test(value)) return true;
    if (++sampled >= maxSampled) return false;
  }
  return false;
}

/** Why a row of a file with answers is skipped, as a phrase after `skipped 2 rows`. */
export function skipByAnswer(row: RowView): string | undefined {
  if (row("has_answers") === "") return undefined;
  const answer = answerOf(row);
  if (answer === "yes") return "of people who agreed to receive emails";
  if (answer === "none") return "of people who did not answer";
  return row("email") === "" ? "without an email address" : undefined;
}

function answerOf(row: RowView): Answer {
  if (row("unsubscribed_at") !== "" || readAnswer(row("suppressions")) === "no") return "no";
  const answer = readAnswer(row("consent"));
  if (row("yes_refuses") === "" || answer === "none") return answer;
  return answer === "yes" ? "no" : isStatus(row("consent")) ? answer : "yes";
}

/** Whether an answer names a status, which means the same in all columns, unlike `yes` and `no`. */
const isStatus = (value: string) => ofSubscription.test(value);

const note = "unsubscribes only those who do not want emails; others are skipped";

/** Every combination of a column with addresses and one with answers. */
const combine = (emails: readonly string[], others: readonly string[]) =>
  emails.flatMap((email) => others.map((other) => [email, other]));

const wooConsent = [
  "mailchimp_woocommerce_is_subscribed",
  "marketing_optin",
  "marketing_opt_in",
  "newsletter_optin",
].flatMap((name) => [name, `meta:${name}`]);
const wooEmails = ["user_email", "billing_email", "customer_email", "email"];

/** Exports of customers and contacts that show who wants emails. */
export const consentLayouts: readonly Layout[] = [
  {
    name: "shopify-customers",
    title: "a Shopify customers export",
    precedesNative: true,
    // Orders of Shopify have `Accepts Marketing` too.
    signatures: [
      ["Email", "Accepts Email Marketing"],
      ["Email", "Accepts Marketing", "First Name"],
      ["Email", "Email Marketing: Status"],
    ],
    fields: {
      email: { from: ["Email"] },
      consent: { from: ["Accepts Email Marketing", "Email Marketing: Status", "Accepts Marketing"], isOneColumn: true },
    },
    notes: [note],
  },
  {
    name: "klaviyo",
    title: "a Klaviyo profiles export",
    precedesNative: true,
    signatures: combine(["Email"], ["Email Marketing Consent", "Email Suppressions"]),
    fields: {
      email: { from: ["Email"] },
      consent: { from: ["Email Marketing Consent"] },
      suppressions: { from: ["Email Suppressions"] },
    },
    notes: [note],
  },
  {
    name: "mailchimp",
    title: "a Mailchimp audience export",
    precedesNative: true,
    signatures: combine(["Email Address", "Email"], ["UNSUB_TIME", "Email Marketing Status"]),
    fields: {
      email: { from: ["Email Address", "Email"] },
      unsubscribed_at: { from: ["UNSUB_TIME"] },
      consent: { from: ["Email Marketing Status"] },
    },
    notes: [note],
  },
  {
    name: "woocommerce-customers",
    title: "a WooCommerce customers export",
    precedesNative: true,
    signatures: combine(wooEmails, wooConsent),
    fields: { email: { from: wooEmails }, consent: { from: wooConsent, isOneColumn: true } },
    notes: [note],
  },
  {
    name: "email-consent",
    title: "a list with answers",
    precedesNative: true,
    signatures: combine(["email", "user_email"], ["email_consent", "unsubscribed_at"]),
    fields: {
      email: { from: ["email", "user_email"] },
      consent: { from: ["email_consent"] },
      unsubscribed_at: { from: ["unsubscribed_at"] },
    },
    notes: [note],
  },
];
