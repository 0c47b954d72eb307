import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { SqliteFile } from "../../src/storage/sqlite/sqlite-file.ts";

/** A file to plan and import, with the command and its flags. */
export interface PlannedCase {
  readonly file: string;
  readonly kind: "products" | "orders" | "coupons" | "unsubscribers" | "reviews";
  readonly flags: readonly string[];
}

/** Record kinds by file name; other files contain orders. */
const kindOfName: readonly (readonly [RegExp, PlannedCase["kind"]])[] = [
  [/^product-ids/, "orders"],
  [/products?/, "products"],
  [/coupons/, "coupons"],
  [/unsubscribers/, "unsubscribers"],
  [/reviews/, "reviews"],
];

const pattern = "https://shop.example/products/{product_id}";

const flagsOf: Readonly<Record<PlannedCase["kind"], readonly string[]>> = {
  products: ["--product-url", pattern],
  orders: ["--product-url", pattern],
  coupons: ["--action", "map_review"],
  unsubscribers: [],
  reviews: ["--product-url", pattern],
};

/** Finds every CSV file in the folders, with its import command. */
export function findCases(folders: readonly string[]): PlannedCase[] {
  return folders.filter(existsSync).flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".csv"))
      .toSorted()
      .map((name) => {
        const base = name.slice(name.lastIndexOf("/") + 1);
        const kind = kindOfName.find(([of]) => of.test(base))?.[1] ?? "orders";
        return { file: join(folder, name), kind, flags: flagsOf[kind] };
      }),
  );
}

/** Returns a digest of all rows, except those of the given tables. */
export function digestDatabase(path: string, without: readonly string[] = []): string {
  const file = new SqliteFile(path);
  try {
    const hash = createHash("sha256");
    const tables = file.all("select name from sqlite_master where type = 'table' order by name");
    for (const name of tables.map((table) => String(table["name"]))) {
      if (without.includes(name)) continue;
      hash.update(`\n${name}\n`);
      const rows = file.all(`select * from "${name}"`).map((row) => JSON.stringify(row));
      hash.update(rows.toSorted().join("\n"));
    }
    return hash.digest("hex");
  } finally {
    file.close();
  }
}

/** A plan as printed for scripts. */
export interface Plan {
  readonly kind: string;
  readonly state: string;
  readonly rows: { read: number; accepted: number; rejected: number; failed: number };
  readonly items: { sent: number; accepted: number; rejected: number };
  readonly calls: { sent: number };
  readonly time: { rate: number | null; ms: number };
  readonly rejects: readonly { code: string; column: string; reason: string; count: number; first: string }[];
  readonly rejects_file: string | null;
  readonly repeated: { rows: number; first: string | null };
  readonly there: { items: number; changed: number | null; purchases_added: number | null };
  readonly collisions: { count: number; examples: { ids: string[]; first: string }[] };
  readonly names: { count: number; examples: { id: string; names: string[] }[] };
  readonly erased: Readonly<Record<string, number>>;
  readonly mails: {
    send_mail: boolean;
    sent_by_import: number;
    if_sent: { mails: number; people: number; days: { day: string; mails: number }[]; not_sent: object };
  } | null;
  readonly not_known: readonly string[];
  readonly plan_file: string | null;
}
