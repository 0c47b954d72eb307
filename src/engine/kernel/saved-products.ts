import type { Transaction } from "kysely";
import { lockAccount } from "../../storage/account-lock.ts";
import type { StorageDialect } from "../../storage/dialect.ts";
import type { Tables } from "../../storage/tables.ts";

/** Maximum number of products kept, of all accounts; about 5 MB. */
const maxProducts = 10_000;

/** A product's columns; the first is its product ID. */
type SavedRow = readonly [productId: string, ...columns: (string | number | null)[]];

interface SaveContext {
  readonly transaction: Transaction<Tables>;
  readonly dialect: StorageDialect;
  readonly accountId: number;
}

interface SavedAccount {
  readonly rows: Map<string, SavedRow>;
  /** The version of the account's last transaction. */
  version: number;
}

/**
 * Remembers the last saved products, so that a product that appears in many orders is written once. Those of an account are
 * forgotten when another process has changed the account, and must be cleared when a call fails.
 */
export class SavedProducts {
  readonly #accounts = new Map<number, SavedAccount>();
  #size = 0;

  /** Returns the rows that may change something, and records them as saved. */
  async takeChanged<Row extends SavedRow>(rows: readonly Row[], context: SaveContext): Promise<Row[]> {
    const { transaction, dialect, accountId } = context;
    const version = await lockAccount(accountId, { transaction, dialect });
    this.note(accountId, version);
    return rows.filter((row) => {
      const saved = this.#accounts.get(accountId)?.rows.get(row[0]);
      if (saved && isSame(saved, row)) return false;
      if (this.#size >= maxProducts) this.clear();
      const account = this.#accounts.get(accountId) ?? { rows: new Map<string, SavedRow>(), version };
      this.#accounts.set(accountId, account);
      account.rows.set(row[0], row);
      if (!saved) this.#size += 1;
      return true;
    });
  }

  /** Must be called with the version of each transaction of this process. */
  note(accountId: number, version: number): void {
    const account = this.#accounts.get(accountId);
    if (!account || account.version === version) return;
    // Versions are consecutive, unless another process has changed the account in between.
    if (version !== account.version + 1) {
      this.#size -= account.rows.size;
      account.rows.clear();
    }
    account.version = version;
  }

  clear(): void {
    this.#accounts.clear();
    this.#size = 0;
  }
}

function isSame(a: SavedRow, b: SavedRow): boolean {
  for (let index = 0; index < a.length; index++) {
    if (a[index] !== b[index]) return false;
  }
  return true;
}
