import { readDataVersion } from "../../storage/sqlite/data-version.ts";
import { accountOf, type HandlerContext } from "./handler.ts";
import type { ProductRow } from "../products/product-row.ts";

/** Products that are remembered; some 5 MB. */
const maxRemembered = 10_000;

/**
 * Remembers what was last saved of one account's products, so that the same product in order after order costs one look here
 * instead of one in the database. Forgotten as soon as anybody else has written, or a call has failed.
 */
export class SavedProducts {
  readonly #saved = new Map<string, ProductRow>();
  #dataVersion = -1;
  #accountId = -1;

  /** The rows that may change something; they count as saved from here on. */
  async takeChanged(rows: readonly ProductRow[], context: HandlerContext): Promise<ProductRow[]> {
    const dataVersion = await readDataVersion(context.transaction, context.dialect);
    if (dataVersion !== this.#dataVersion) this.forget();
    this.#dataVersion = dataVersion;
    const { id } = accountOf(context);
    if (id !== this.#accountId) this.forget();
    this.#accountId = id;
    return rows.filter((row) => {
      const saved = this.#saved.get(row[0]);
      if (saved && isSame(saved, row)) return false;
      if (this.#saved.size >= maxRemembered) this.forget();
      this.#saved.set(row[0], row);
      return true;
    });
  }

  forget(): void {
    this.#saved.clear();
  }
}

function isSame(a: ProductRow, b: ProductRow): boolean {
  for (let at = 0; at < a.length; at++) {
    if (a[at] !== b[at]) return false;
  }
  return true;
}
