import { emailTypeNames, nameEmailType } from "../../../contract/emails/type-names.ts";
import { basename } from "node:path";
import type { Customer } from "../../../contract/index.ts";
import type { PersonRun } from "../../../import/people/person-rows.ts";
import { countOf } from "../../../terminal/plural.ts";
import { formatSections } from "../../../terminal/sections.ts";
import { text, type View } from "../../../terminal/view.ts";
import { describeRecord, formatReason } from "../mail/email-format.ts";

/** What is stored about a customer on the service, and the imports of this machine that contain the customer. */
export interface ShownCustomer extends Customer {
  readonly imports: readonly (Omit<PersonRun, "rows" | "outside"> & { readonly rows: number })[];
}

interface ShownRow {
  readonly kind: string;
  readonly id: string | number;
  readonly date: string;
  readonly state: string;
  readonly about: string;
}

/** The rows of each kind that the screen shows; JSON and CSV output contains all of them. */
const maxRows = 8;
const screenWidth = 78;

const day = (timestamp: string) => timestamp.slice(0, 10);
const singleLine = (content: string) => content.replace(/\s+/g, " ").trim();

function rowsOfOrders({ orders }: Customer): ShownRow[] {
  return orders.map(({ order_id, order_date, products, platform }) => ({
    kind: "order",
    id: order_id,
    date: day(order_date),
    state: platform,
    about: products
      .map(({ product_id, quantity }) => (quantity > 1 ? `${product_id} (${quantity})` : product_id))
      .join(", "),
  }));
}

function rowsOfTexts({ reviews, questions, answers }: Customer): Readonly<Record<string, ShownRow[]>> {
  return {
    Reviews: reviews.map(({ id, created_at, score, product_id, title, state }) => ({
      kind: "review",
      id,
      date: day(created_at),
      state,
      about: `${"★".repeat(score)} ${product_id ?? "store"}: ${singleLine(title)}`,
    })),
    Questions: questions.map(({ id, created_at, product_id, content, state, answers: count }) => ({
      kind: "question",
      id,
      date: day(created_at),
      state,
      about: `${product_id}, ${countOf(count, "answer")}: ${singleLine(content)}`,
    })),
    Answers: answers.map(({ id, created_at, question_id, product_id, content }) => ({
      kind: "answer",
      id,
      date: day(created_at),
      state: "",
      about: `${product_id}, question ${question_id}: ${singleLine(content)}`,
    })),
  };
}

function rowsOfEmails({ mails }: Customer): ShownRow[] {
  return mails.map((mail) => {
    const about = [mail.category, describeRecord(mail), formatReason(mail.reason)];
    return {
      kind: "email",
      id: mail.id,
      date: day(mail.sent_at ?? mail.due_at),
      state: mail.state,
      about: about.filter((part) => part !== "").join(", "),
    };
  });
}

const suppressions = { bounces: "an email bounced", spamreports: "reported spam", erased: "the data was erased" };

/** One row per unsubscribed email type, or a single row if these are all types. */
function rowsOfSubscriptions({ unsubscribed, suppressed }: Customer): ShownRow[] {
  const types = unsubscribed.map(({ email_type_id, by, created_at }) => ({
    kind: "unsubscribed",
    id: nameEmailType(email_type_id),
    date: day(created_at),
    state: "unsubscribed",
    about: by === "USER" ? "by the customer" : "by the store",
  }));
  const [first, ...others] = types;
  const isSame = others.every(({ date, about }) => date === first?.date && about === first.about);
  const isAll = isSame && types.length === Object.keys(emailTypeNames).length;
  return [
    ...(first && isAll ? [{ ...first, id: "all types" }] : types),
    ...suppressed.map(({ kind, created_at }) => ({
      kind: "suppressed",
      id: "all",
      date: day(created_at),
      state: kind,
      about: suppressions[kind],
    })),
  ];
}

function listSections(customer: ShownCustomer): readonly (readonly [title: string, rows: readonly ShownRow[]])[] {
  const texts = rowsOfTexts(customer);
  return [
    ["Orders", rowsOfOrders(customer)],
    ...Object.entries(texts),
    ["Emails", rowsOfEmails(customer)],
    ["Unsubscribed and suppressed", rowsOfSubscriptions(customer)],
    [
      "Skipped order lines",
      customer.missed_products.map(({ order_id, product_id, name, created_at }) => ({
        kind: "missed product",
        id: order_id,
        date: day(created_at),
        state: "",
        about: `${product_id}: ${name}`,
      })),
    ],
    [
      "Imports",
      customer.imports.map(({ import_id, kind, files, state, started_at, rows }) => ({
        kind: "import",
        id: import_id,
        date: day(started_at),
        state,
        about: `${kind}, ${countOf(rows, "row")}: ${files.map((file) => basename(file)).join(" ")}`,
      })),
    ],
  ];
}

/** Shows everything about a customer on one screen, the newest records of each kind first. */
export function viewOfCustomer(customer: ShownCustomer): View {
  const sections = listSections(customer);
  const names = customer.names.length === 0 ? "" : ` (${customer.names.slice(0, 3).join(", ")})`;
  const lines = formatSections(
    sections.flatMap(([title, rows]) => (rows.length === 0 ? [] : [toSection(title, rows)])),
    { maxWidth: screenWidth },
  );
  const rows = sections.flatMap(([, found]) => found.map((row) => ({ ...row })));
  return text([`${customer.email}${names}`, ...(lines.length === 0 ? [] : ["", ...lines])], rows, [
    "kind",
    "id",
    "date",
    "state",
    "about",
  ]);
}

function toSection(title: string, rows: readonly ShownRow[]) {
  const shown = rows.slice(0, maxRows);
  const hidden = rows.length - shown.length;
  return {
    title: `${title} (${rows.length})`,
    rows: shown.map(({ id, date, state, about }) => [String(id), date, state, about]),
    notes: hidden > 0 ? [`  … and ${hidden} more; to see all, use --json`] : [],
  };
}
