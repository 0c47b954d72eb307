import { randomInt } from "node:crypto";
import type { Transaction } from "kysely";
import { lockAccount } from "../../storage/account-lock.ts";
import type { StorageDialect } from "../../storage/dialect.ts";
import { letOthersRun } from "../../storage/loop-turn.ts";
import type { Tables } from "../../storage/tables.ts";

/**
 * The number of places for hashes of products, of all accounts: 524,288 in 4 MiB. Of 200,000 products, about two thirds
 * keep theirs.
 */
const places = 2 ** 19;

/** The maximum number of accounts whose products are remembered. */
const maxAccounts = 10_000;

/** A product's columns; the first is its product ID. */
type SavedRow = readonly [productId: string, ...columns: (string | number | null)[]];

interface SaveContext {
  readonly transaction: Transaction<Tables>;
  readonly dialect: StorageDialect;
  readonly accountId: number;
  /** Only products with a higher ID are changed. Part of the hash, because a product that was left alone may change in a call without this limit. */
  readonly sinceId?: number;
}

interface SavedAccount {
  /** Part of all hashes of the account's products. A new one makes those that were kept unequal to all others. */
  seed: number;
  /** The version of the account's last transaction. */
  version: number;
}

/**
 * Remembers hashes of the last saved products, so that a product that appears in many orders is written once. Those of an
 * account are forgotten when another process has changed the account, and must be cleared when a call fails. If the hash of
 * a product takes the place of another one's, the other one is written again.
 */
export class SavedProducts {
  readonly #accounts = new Map<number, SavedAccount>();
  /** Two halves of a hash for each place; a product's place depends on its ID. Created when first needed. */
  #hashes: Uint32Array | undefined;
  #lastSeed = randomInt(2 ** 32);

  /** Returns the rows that may change something, and records them as saved. */
  async takeChanged<Row extends SavedRow>(rows: readonly Row[], context: SaveContext): Promise<Row[]> {
    const { transaction, dialect, accountId, sinceId = 0 } = context;
    const version = await lockAccount(accountId, { transaction, dialect });
    this.note(accountId, version);
    const account = this.#accounts.get(accountId) ?? this.#addAccount(accountId, version);
    const changed: Row[] = [];
    for (const row of rows) {
      if (this.#take(row, account.seed, sinceId)) changed.push(row);
      // An import saves many products, and awaiting nothing takes time as well.
      const others = letOthersRun();
      if (others) await others;
    }
    return changed;
  }

  #addAccount(accountId: number, version: number): SavedAccount {
    if (this.#accounts.size >= maxAccounts) this.clear();
    const account = { seed: this.#nextSeed(), version };
    this.#accounts.set(accountId, account);
    return account;
  }

  #take(row: SavedRow, seed: number, sinceId: number): boolean {
    const hashes = (this.#hashes ??= new Uint32Array(2 * places));
    const place = hashColumns([row[0]], seed).low % places;
    const { low, high } = hashColumns(row, seed ^ sinceId);
    if (hashes[2 * place] === low && hashes[2 * place + 1] === high) return false;
    hashes[2 * place] = low;
    hashes[2 * place + 1] = high;
    return true;
  }

  /** Must be called with the version of each transaction of this process. */
  note(accountId: number, version: number): void {
    const account = this.#accounts.get(accountId);
    if (!account || account.version === version) return;
    // Versions are consecutive, unless another process has changed the account in between.
    if (version !== account.version + 1) account.seed = this.#nextSeed();
    account.version = version;
  }

  clear(): void {
    this.#accounts.clear();
  }

  #nextSeed(): number {
    this.#lastSeed = (this.#lastSeed + 1) >>> 0;
    return this.#lastSeed;
  }
}

/** A hash of 64 bits. */
function hashColumns(columns: readonly (string | number | null)[], seed: number): { low: number; high: number } {
  let low = seed ^ 0xdeadbeef;
  let high = seed ^ 0x41c6ce57;
  for (const column of columns) {
    // With the length, each character belongs to exactly one column.
    const value = typeof column === "string" ? column.length : (column ?? -1);
    low = Math.imul(low ^ value, 0x9e3779b1);
    high = Math.imul(high ^ value, 0x5f356495);
    if (typeof column !== "string") continue;
    for (let at = 0; at < column.length; at++) {
      const unit = column.charCodeAt(at);
      low = Math.imul(low ^ unit, 0x9e3779b1);
      high = Math.imul(high ^ unit, 0x5f356495);
    }
  }
  return { low: spread(low, high), high: spread(high, low) };
}

/** Makes every bit of the result depend on all bits. */
function spread(value: number, other: number): number {
  const mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b) ^ Math.imul(other ^ (other >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
