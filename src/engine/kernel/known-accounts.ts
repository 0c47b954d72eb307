/** App keys that are remembered. */
const maxKnown = 10_000;

/** Accounts by their app key. Neither ever changes, so that a shopper's read need not look for them twice. */
export class KnownAccounts {
  readonly #ids = new Map<string, number>();

  find(appKey: string): number | undefined {
    return this.#ids.get(appKey);
  }

  add(appKey: string, id: number): void {
    if (this.#ids.size >= maxKnown) this.#ids.clear();
    this.#ids.set(appKey, id);
  }
}
