import { stringify } from "csv-stringify/sync";
import { strToU8, type Zippable, zipSync } from "fflate";
import { markFormula } from "./formula-mark.ts";

/** What an archive contains: the address, and lists of records. */
export interface ArchivedCustomer extends Readonly<Record<string, unknown>> {
  readonly email: string;
}

type Row = Readonly<Record<string, unknown>>;

interface Image extends Row {
  readonly id: number;
  readonly content_type: string;
  readonly base64: string;
}

/** What each list contains, for people who are not familiar with the service. */
const descriptions: Readonly<Record<string, string>> = {
  names: "every name under which the customer appears",
  orders: "orders with their products",
  reviews: "reviews, and the store's comments on them",
  images: "pictures of reviews; those with a URL are stored elsewhere, the others are in the folder images",
  review_events: "decisions about the reviews, such as publishing and hiding them",
  questions: "questions about products",
  answers: "answers to questions of others",
  question_events: "decisions about the questions and answers, such as hiding, editing, and deleting them",
  answers_to_questions: "answers of others to the customer's questions",
  mails: "emails to the customer: their type, state, and time",
  mail_contents: "the contents of these emails, and of emails to others that quote the customer",
  unsubscribed: "types of email that the customer unsubscribed from",
  suppressed: "why no emails are sent to the address",
  missed_products: "products of orders that were not stored",
  coupons: "coupon codes that were issued to the customer",
  webhook_deliveries: "events about the customer that were sent to other programs",
  mentions: "other texts with the address or the name",
  imports: "imported files with the address, and the rows that contain it",
};

/**
 * Packs an export into a zip archive: a JSON file for each list that is not empty, a CSV file if its records are flat, the
 * pictures, and a text file that describes them.
 */
export function createArchive(customer: ArchivedCustomer, nowMs: number): Buffer {
  const { email, images, ...lists } = customer;
  const pictures = (images as readonly Image[] | undefined) ?? [];
  const listed = pictures.map(({ base64, ...image }) => ({ ...image, file: base64 === "" ? null : nameOf(image) }));
  const kinds = Object.entries<unknown>({ ...lists, images: listed }).flatMap(([name, records]) =>
    Array.isArray(records) && records.length > 0 ? [[name, records as readonly unknown[]] as const] : [],
  );
  const files: Zippable = {};
  for (const [name, records] of kinds) {
    files[`${name}.json`] = strToU8(`${JSON.stringify(records, null, 2)}\n`);
    const csv = formatCsv(records);
    if (csv !== undefined) files[`${name}.csv`] = strToU8(csv);
  }
  for (const image of pictures.filter(({ base64 }) => base64 !== "")) {
    files[nameOf(image)] = [Buffer.from(image.base64, "base64"), { level: 0 }];
  }
  const text = strToU8(describe(email, kinds, nowMs));
  return Buffer.from(zipSync({ "README.txt": text, ...files }, { mtime: new Date(nowMs) }));
}

const nameOf = ({ id, content_type }: Pick<Image, "id" | "content_type">) =>
  `images/${id}.${/^image\/([a-z]+)/.exec(content_type)?.[1] ?? "bin"}`;

/** Lists in a record are joined; returns undefined if they cannot be, or the list is not one of records. */
function formatCsv(records: readonly unknown[]): string | undefined {
  const rows: (readonly string[])[] = [];
  const columns = Object.keys((records[0] as Row | null) ?? {});
  for (const record of records) {
    if (typeof record !== "object" || record === null) return undefined;
    const cells = columns.map((column) => formatCell((record as Row)[column]));
    if (cells.includes(undefined)) return undefined;
    rows.push(cells as string[]);
  }
  return stringify([columns, ...rows], { bom: true, record_delimiter: "windows", quoted_match: /[\r\n]/ });
}

function formatCell(value: unknown): string | undefined {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return markFormula(value);
  if (Array.isArray(value)) return value.map((item) => formatItem(item)).join("; ");
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

const formatItem = (item: unknown) =>
  typeof item === "object" && item !== null ? Object.values(item).join(", ") : String(item);

function describe(email: string, kinds: readonly (readonly [string, readonly unknown[]])[], nowMs: number): string {
  const width = Math.max(0, ...kinds.map(([name]) => name.length));
  const lines = kinds.map(
    ([name, { length }]) => `  ${name.padEnd(width)}  ${String(length).padStart(6)}  ${descriptions[name] ?? ""}`,
  );
  return [
    `Everything that is stored about ${email}, as of ${new Date(nowMs).toISOString()}.`,
    "",
    "Each list is a JSON file. If its records fit into a table, it is also a CSV file, for spreadsheets. A ' before a text",
    "in a CSV file keeps spreadsheets from running it as a formula.",
    "",
    ...(lines.length === 0 ? ["Nothing is stored."] : lines),
    "",
  ].join("\r\n");
}
