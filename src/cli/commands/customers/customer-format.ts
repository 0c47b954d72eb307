import { emailTypeNames, nameEmailType } from "../../../contract/emails/type-names.ts";
import { basename } from "node:path";
import type { Customer } from "../../../contract/index.ts";
import type { PersonRun } from "../../../import/people/person-rows.ts";
import { countOf } from "../../../terminal/plural.ts";
import { formatSections, type Section } from "../../../terminal/sections.ts";
import { text, type View } from "../../../terminal/view.ts";
import { describeRecord, formatReason } from "../mail/email-format.ts";

/** What is stored about a customer on the service, and the imports of this machine that contain the customer. */
export interface ShownCustomer extends Customer {
  readonly imports: readonly (Omit<PersonRun, "rows" | "outside"> & { readonly rows: number })[];
}

type ShownRow = readonly [id: string | number, timestamp: string, state: string, about: string];

/** The rows of each kind that the screen shows; JSON and CSV output contains all of them. */
const maxRows = 8;
const screenWidth = 78;

const singleLine = (content: string) => content.replace(/\s+/g, " ").trim();

const suppressions = { bounces: "an email bounced", spamreports: "reported spam", erased: "the data was erased" };

/** One row per unsubscribed email type, or a single row if these are all types. */
function rowsOfUnsubscribed({ unsubscribed }: Customer): ShownRow[] {
  const types = unsubscribed.map(({ email_type_id, by, created_at }): ShownRow => {
    return [
      nameEmailType(email_type_id),
      created_at,
      "unsubscribed",
      by === "USER" ? "by the customer" : "by the store",
    ];
  });
  const [first, ...others] = types;
  const isSame = others.every(([, time, , about]) => dayOf(time) === dayOf(first?.[1] ?? "") && about === first?.[3]);
  const isAll = isSame && types.length === Object.keys(emailTypeNames).length;
  return first && isAll ? [["all types", first[1], first[2], first[3]]] : types;
}

/** The sections of the screen: their titles, and the rows of each kind. */
function listSections(
  customer: ShownCustomer,
): Readonly<Record<string, Readonly<Record<string, readonly ShownRow[]>>>> {
  const { orders, reviews, questions, answers, mails, suppressed, missed_products, coupons, imports } = customer;
  return {
    Orders: {
      order: orders.map(({ order_id, order_date, products, platform }) => {
        const names = products.map(({ product_id: id, quantity }) => (quantity > 1 ? `${id} (${quantity})` : id));
        return [order_id, order_date, platform, names.join(", ")];
      }),
    },
    Reviews: {
      review: reviews.map(({ id, created_at, score, product_id, title, state }) => {
        return [id, created_at, state, `${"★".repeat(score)} ${product_id ?? "store"}: ${singleLine(title)}`];
      }),
    },
    Questions: {
      question: questions.map(({ id, created_at, product_id, content, state, answers: count }) => {
        return [id, created_at, state, `${product_id}, ${countOf(count, "answer")}: ${singleLine(content)}`];
      }),
    },
    Answers: {
      answer: answers.map(({ id, created_at, question_id, product_id, content }) => {
        return [id, created_at, "", `${product_id}, question ${question_id}: ${singleLine(content)}`];
      }),
    },
    Emails: {
      email: mails.map((mail) => {
        const about = [mail.category, describeRecord(mail), formatReason(mail.reason)];
        return [mail.id, mail.sent_at ?? mail.due_at, mail.state, about.filter((part) => part !== "").join(", ")];
      }),
    },
    "Unsubscribed and suppressed": {
      unsubscribed: rowsOfUnsubscribed(customer),
      suppressed: suppressed.map(({ kind, created_at }) => ["all", created_at, kind, suppressions[kind]]),
    },
    "Skipped order lines": {
      "missed product": missed_products.map(({ order_id, product_id, name, created_at }) => {
        return [order_id, created_at, "", `${product_id}: ${name}`];
      }),
    },
    Coupons: {
      coupon: coupons.map(({ code, coupon_action, issued_at }) => [code, issued_at, "issued", coupon_action]),
    },
    Imports: {
      import: imports.map(({ import_id, kind, files, state, started_at, rows }) => {
        const names = files.map((file) => basename(file)).join(" ");
        return [import_id, started_at, state, `${kind}, ${countOf(rows, "row")}: ${names}`];
      }),
    },
  };
}

function dayOf(timestamp: string): string {
  return timestamp.slice(0, 10);
}

/** Shows everything about a customer on one screen, the newest records of each kind first. */
export function viewOfCustomer(customer: ShownCustomer): View {
  const sections = Object.entries(listSections(customer));
  const names = customer.names.length === 0 ? "" : ` (${customer.names.slice(0, 3).join(", ")})`;
  const shown = sections.map(([title, kinds]) => toSection(title, Object.values(kinds).flat()));
  const lines = formatSections(shown, { maxWidth: screenWidth });
  const rows = sections.flatMap(([, kinds]) =>
    Object.entries(kinds).flatMap(([kind, found]) =>
      found.map(([id, time, state, about]) => ({ kind, id, date: dayOf(time), state, about })),
    ),
  );
  const columns = ["kind", "id", "date", "state", "about"];
  return text([`${customer.email}${names}`, ...(lines.length === 0 ? [] : ["", ...lines])], rows, columns);
}

function toSection(title: string, rows: readonly ShownRow[]): Section {
  const shown = rows.slice(0, maxRows);
  const hidden = rows.length - shown.length;
  return {
    title: `${title} (${rows.length})`,
    rows: shown.map(([id, time, state, about]) => [String(id), dayOf(time), state, about]),
    notes: hidden > 0 ? [`  … and ${hidden} more; to see all, use --json`] : [],
  };
}
