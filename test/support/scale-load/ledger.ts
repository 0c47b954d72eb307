/** The records of a kind that clients have created in an account, by keys that the clients chose. */
export class Ledger {
  /** Acknowledged by the server. */
  readonly acknowledged = new Set<string>();
  /** The call got no response, so the record may have been created or not. */
  readonly uncertain = new Set<string>();

  /** Compares the ledger with the keys of all stored records, and describes each difference. */
  compare(stored: readonly string[]): string[] {
    const counts = new Map<string, number>();
    for (const key of stored) counts.set(key, (counts.get(key) ?? 0) + 1);
    const missing = [...this.acknowledged].filter((key) => !counts.has(key)).map((key) => `missing: ${key}`);
    const surplus = [...counts].flatMap(([key, count]) => {
      if (count > 1) return [`stored ${count} times: ${key}`];
      return this.acknowledged.has(key) || this.uncertain.has(key) ? [] : [`never sent, or refused: ${key}`];
    });
    return [...missing, ...surplus];
  }

  /** Like `compare`, for records whose keys are IDs of the server, so that only acknowledged ones have a known key. */
  compareIds(stored: readonly string[]): string[] {
    const ids = new Set(stored);
    const missing = [...this.acknowledged].filter((id) => !ids.has(id)).map((id) => `missing: ${id}`);
    const surplus = stored.length - this.acknowledged.size - this.uncertain.size;
    return surplus > 0 ? [...missing, `${surplus} more than were sent`] : missing;
  }
}
