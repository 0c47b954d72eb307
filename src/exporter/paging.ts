/** A record with the service's own id. */
interface Listed {
  readonly id: number;
}

/**
 * Reads a list by id: each page begins where the last one ended, so that nothing is lost or doubled while others write.
 * Assumed: `since_id` may or may not list the record of that id itself: pages overlap by it, and the second is passed
 * over; the list ends where nothing new comes, since a service may give fewer than were asked for.
 * @returns a page a call; the last is empty
 */
export async function* readById<T extends Listed>(
  ask: (position: { readonly since_id?: number }) => Promise<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  for (let lastId = 0; ;) {
    const found = await ask(lastId === 0 ? {} : { since_id: lastId });
    const fresh = found.filter(({ id }) => id > lastId);
    yield fresh;
    if (fresh.length === 0) return;
    lastId = fresh.reduce((most, { id }) => Math.max(most, id), lastId);
  }
}

/**
 * Reads a list by numbered pages.
 * Assumed: pages count from 1, and behind the last comes an empty one, or the last again.
 * @returns a page a call; the last is empty
 */
export async function* readByPage<T extends Listed>(
  ask: (page: number) => Promise<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  let before: ReadonlySet<number> = new Set();
  for (let page = 1; ; page++) {
    const found = await ask(page);
    const fresh = found.filter(({ id }) => !before.has(id));
    yield fresh;
    if (fresh.length === 0) return;
    before = new Set(found.map(({ id }) => id));
  }
}
