/** A record with the service's own id. */
interface Listed {
  readonly id: number;
}

/**
 * Reads a list by numbered pages.
 * Assumed: pages count from 1, and behind the last comes an empty one, or the last again.
 */
export async function* readByPage<T extends Listed>(
  ask: (page: number) => Promise<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  let before: ReadonlySet<number> = new Set();
  for (let page = 1; ; page++) {
    const found = await ask(page);
    const fresh = found.filter(({ id }) => !before.has(id));
    if (fresh.length === 0) return;
    yield fresh;
    before = new Set(found.map(({ id }) => id));
  }
}
