import type { Transaction } from "kysely";
import type { StorageDialect } from "../../storage/dialect.ts";
import type { Tables } from "../../storage/tables.ts";

/** Maximum number of products kept; about 5 MB. */
const maxProducts = 10_000;

/** A product's columns; the first is its product ID. */
type SavedRow = readonly [productId: string, ...columns: (string | number | null)[]];

interface SaveContext {
  readonly transaction: Transaction<Tables>;
  readonly dialect: StorageDialect;
  readonly accountId: number;
}

/**
 * Remembers the last saved products of one account, so that a product that appears in many orders is written once.
 * It is cleared whenever another process has written to the database, and must be cleared when a call fails.
 */
export class SavedProducts {
  readonly #rows = new Map<string, SavedRow>();
  #dataVersion = -1;
  #accountId = -1;

  /** Returns the rows that may change something, and records them as saved. */
  async takeChanged<Row extends SavedRow>(rows: readonly Row[], context: SaveContext): Promise<Row[]> {
    const { transaction, dialect, accountId } = context;
    const dataVersion = await dialect.readDataVersion(transaction);
    if (dataVersion !== this.#dataVersion || accountId !== this.#accountId) this.clear();
    this.#dataVersion = dataVersion;
    this.#accountId = accountId;
    return rows.filter((row) => {
      const saved = this.#rows.get(row[0]);
      if (saved && isSame(saved, row)) return false;
      if (this.#rows.size >= maxProducts) this.clear();
      this.#rows.set(row[0], row);
      return true;
    });
  }

  clear(): void {
    this.#rows.clear();
  }
}

function isSame(a: SavedRow, b: SavedRow): boolean {
  for (let index = 0; index < a.length; index++) {
    if (a[index] !== b[index]) return false;
  }
  return true;
}
