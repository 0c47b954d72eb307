import { chmodSync, createWriteStream, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout } from "node:timers/promises";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, expect, test } from "vitest";
import { SqliteFile } from "../../src/storage/sqlite/sqlite-file.ts";
import { recordPeakMemory } from "../support/peak-memory.ts";
import { type Home, Homes, type Summary } from "../support/starpost.ts";
import { chooseSize, isSlowSuite } from "../support/suite-size.ts";

const homes = new Homes();
afterAll(() => homes.remove());

/** Reviews of almost 10,000 characters: 1 GB in the slow suite. */
const stored = chooseSize(100, 40_000);
const imported = chooseSize(4_000, 40_000);

const filler = "pours well and keeps the tea warm ".repeat(chooseSize(3, 280));

async function writeReviews(home: Home, name: string, count: number, content: string): Promise<string> {
  const path = join(home.folder, `${name}.csv`);
  function* listLines() {
    yield "review_title,review_content,review_score,date,product_id,display_name,email,published\n";
    for (let at = 0; at < count; at += 1) {
      const product = `product-${at % 50}`;
      yield `${name} ${at},${content},${1 + (at % 5)},2026-01-01,${product},Ann,ann${at % 1_000}@mail.example,true\n`;
    }
  }
  await pipeline(Readable.from(listLines()), createWriteStream(path));
  return path;
}

function query(home: Home, sql: string): Record<string, unknown>[] {
  const file = new SqliteFile(join(home.folder, "starpost.db"), { busyTimeoutMs: 60_000 });
  try {
    return file.all(sql);
  } finally {
    file.close();
  }
}

const countOf = (home: Home, title: string) =>
  Number(query(home, `select count(*) as found from reviews where title glob '${title} *'`)[0]?.["found"]);

/** Products whose stored totals differ from their reviews. */
const wrongTotals = `
  select totals.rating_target from review_totals as totals left join (
    select rating_target, sum(score = 1) as one, sum(score = 2) as two, sum(score = 3) as three, sum(score = 4) as four,
      sum(score = 5) as five
    from reviews where published = 1 group by rating_target
  ) as counted on counted.rating_target = totals.rating_target
  where substr(totals.rating_target, 1, 1) = 'p' and (stars_1, stars_2, stars_3, stars_4, stars_5) is not (one, two, three, four, five)`;

const importArgs = (file: string) => [
  "reviews",
  "import",
  file,
  "--product-url",
  "https://shop.example/p/{product_id}",
];

/** Writes a new secret key to a file. */
async function createKey(home: Home, name: string): Promise<{ identity: string; recipient: string }> {
  const [key, identity] = [await generateX25519Identity(), join(home.folder, name)];
  writeFileSync(identity, key);
  chmodSync(identity, 0o600);
  return { identity, recipient: await identityToRecipient(key) };
}

interface Made {
  readonly file: string;
  readonly bytes: number;
  readonly database_bytes: number;
}

/** Runs a command of backups in a process, and measures it. */
async function measure<T>(home: Home, args: readonly string[]) {
  const { env, read } = recordPeakMemory(home);
  const startedMs = performance.now();
  const { exitCode, stdout, stderr } = await home.start(["backup", ...args, "--json"], { env, timeout: 600_000 });
  const seconds = Number(((performance.now() - startedMs) / 1_000).toFixed(1));
  expect(exitCode, String(stderr)).toBe(0);
  return { data: JSON.parse(String(stdout)) as T, seconds, peakBytes: read() };
}

test(
  "an encrypted backup that is made during an import contains a committed state",
  async () => {
    const home = homes.open();
    const { identity, recipient } = await createKey(home, "own.txt");
    const first = await home.start([...importArgs(await writeReviews(home, "stored", stored, filler)), "--quiet"], {
      timeout: 1_500_000,
    });
    expect(first.exitCode, String(first.stderr)).toBe(0);
    const second = await writeReviews(home, "imported", imported, "short");
    const running = home.start([...importArgs(second), "--json"], { timeout: 600_000 });
    while (countOf(home, "imported") === 0) await setTimeout(10);
    const encrypting = await measure<Made>(home, ["create", "--recipient", recipient]);
    const { data: made } = encrypting;
    const whileRunning = running.exitCode === undefined || running.exitCode === null;
    const ended = await running;
    expect(ended.exitCode).toBe(0);
    const summary = JSON.parse(String(ended.stdout)) as Summary;
    expect(summary.rows).toEqual({ read: imported, accepted: imported, rejected: 0, failed: 0 });
    expect(countOf(home, "imported")).toBe(imported);

    const other = homes.open();
    const stranger = await createKey(other, "stranger.txt");
    const restore = ["restore", made.file, "--sealing-key", join(home.folder, "starpost.key")];
    for (const args of [restore, [...restore, "--identity", stranger.identity]]) {
      expect((await other.json(["backup", ...args])).exitCode).toBe(args === restore ? 2 : 1);
      expect(existsSync(join(other.folder, "starpost.db"))).toBe(false);
    }
    const restoring = await measure(other, [...restore, "--identity", identity]);
    expect(restoring.data).toMatchObject({ opens_secrets: true });
    if (isSlowSuite) {
      // Without an import, and one after the other, so that they can be compared.
      const plain = await measure<Made>(home, ["create", join(home.folder, "plain.tar.gz")]);
      const again = await measure<Made>(home, ["create", join(home.folder, "again.age"), "--recipient", recipient]);
      const verifying = await measure(home, ["verify", again.data.file, "--identity", identity]);
      process.stderr.write(
        `${JSON.stringify({ encrypting, whileRunning, restoring, plain, again, verifying, found: countOf(other, "imported") })}\n`,
      );
      expect(made.database_bytes).toBeGreaterThan(1_000_000_000);
      expect(countOf(other, "imported")).toBeLessThan(imported);
      for (const { peakBytes } of [encrypting, restoring, again, verifying])
        expect(peakBytes).toBeLessThan(400_000_000);
    }

    // The calls of the import that were committed before the backup: its first reviews, completely.
    const found = countOf(other, "imported");
    expect(found).toBeGreaterThan(0);
    expect(countOf(other, "stored")).toBe(stored);
    const titles = "select title, id from reviews where title glob 'imported *' order by id";
    expect(query(other, titles)).toEqual(query(home, `${titles} limit ${found}`));
    expect(query(other, wrongTotals)).toEqual([]);
    expect(query(home, wrongTotals)).toEqual([]);
    const [totals] = query(
      other,
      "select sum(stars_1 + stars_2 + stars_3 + stars_4 + stars_5) as reviews from review_totals where substr(rating_target, 1, 1) = 'p'",
    );
    expect(totals).toEqual({ reviews: stored + found });
    // The rest can be imported: reviews that are stored are unchanged, which is found by their author and product.
    const again = await other.json(importArgs(second));
    expect(again.data.rows).toMatchObject({ read: imported, accepted: imported, rejected: 0, failed: 0 });
    expect(again.data.items).toMatchObject({ created: imported - found, unchanged: found });
    expect(countOf(other, "imported")).toBe(imported);
    expect(query(other, wrongTotals)).toEqual([]);
  },
  isSlowSuite ? 1_800_000 : 120_000,
);
