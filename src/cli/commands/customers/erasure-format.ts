import type { ErasedCounts } from "../../../contract/index.ts";
import type { ReviewErasure } from "../../../contract/customers/review-erasures.ts";
import { countOf } from "../../../terminal/plural.ts";
import { formatSections } from "../../../terminal/sections.ts";
import { text, type View } from "../../../terminal/view.ts";

/** What was erased, or would be. Contains no personal data. */
export interface Erased {
  readonly state: "planned" | "erased";
  readonly erasure_id: number | null;
  readonly reviews: ReviewErasure;
  readonly counts: ErasedCounts;
  /** Whether the remains of deleted rows were removed from the database. */
  readonly removed: boolean;
  /** Imports whose files are removed. */
  readonly imports: readonly {
    readonly import_id: string;
    readonly kind: string;
    readonly files: readonly string[];
    readonly state: string;
  }[];
  /** Files of the user that contain the address. */
  readonly kept_files: readonly string[];
  /** Backups that were made before, and may contain the customer. */
  readonly backups: readonly string[];
}

const labels: readonly (readonly [keyof ErasedCounts, what: string, done: string])[] = [
  ["orders", "orders", "kept under a pseudonym"],
  ["reviews", "reviews", ""],
  ["images", "images of reviews", "deleted"],
  ["questions", "questions", "deleted with all answers"],
  ["answers", "answers", "deleted"],
  ["mails", "emails", "content and address removed"],
  ["canceled_mails", "emails not sent yet", "canceled"],
  ["mails_to_others", "emails to others about the customer", "content removed"],
  ["unsubscriptions", "unsubscriptions", "replaced by a hash"],
  ["suppressions", "suppressions", "replaced by a hash"],
  ["missed_products", "skipped order lines", "kept under a pseudonym"],
  ["coupons", "coupon codes", "address removed"],
  ["webhook_deliveries", "webhook deliveries", "body removed"],
  ["stored_results", "results of idempotent calls", "cleaned"],
  ["mentions", "other texts with the address", "address removed"],
];

const doneWithReviews = { anonymize: "author and texts removed, score kept", delete: "deleted" };

/** The question before an erasure. */
export function describeErasure({ counts, imports }: Erased, email: string): string {
  const { orders, reviews, questions, answers, mails } = counts;
  const parts = [
    countOf(orders, "order"),
    countOf(reviews, "review"),
    countOf(questions + answers, "question or answer", "questions and answers"),
    countOf(mails, "email"),
    `the files of ${countOf(imports.length, "import")}`,
  ];
  return `This erases the data of ${email}: ${parts.join(", ")}. It cannot be undone.`;
}

/** Shows what was erased, what stays, and where copies are left. */
export function viewOfErasure(erased: Erased): View {
  const { state, erasure_id, counts, imports, kept_files, backups, reviews } = erased;
  const title = state === "planned" ? "The erasure would change:" : `Erased (erasure ${erasure_id}):`;
  const found = labels.filter(([name]) => counts[name] > 0);
  const done = found.map(([name, what, effect]) => {
    return [what, String(counts[name]), name === "reviews" ? doneWithReviews[reviews] : effect];
  });
  const runs = imports.map(({ import_id, kind, state: runState }) => {
    const note =
      runState === "finished" ? "can no longer be verified or undone" : `is ${runState}; finish or purge it first`;
    return [`${import_id} (${kind}): ${note}`];
  });
  const sections = [
    { title, rows: done.length === 0 ? [["nothing in the account"]] : done },
    { title: state === "planned" ? "Import files to remove:" : "Removed import files:", rows: runs },
    {
      title: "Files that contain the address, which you must delete yourself:",
      rows: kept_files.map((file) => [file]),
    },
    { title: "Backups made before, which may contain the customer:", rows: backups.map((file) => [file]) },
  ];
  const rows = labels.map(([name]) => ({ record: name, count: counts[name] }));
  return text(formatSections(sections, { rightColumn: 1 }), rows, ["record", "count"]);
}
