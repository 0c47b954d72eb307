import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { ServiceError } from "../../src/contract/index.ts";
import { createRandom } from "../fuzz/random.ts";
import { anOrder } from "../support/builders.ts";
import { type CountingMailServer, startCountingMailServer } from "../support/counting-mail-server.ts";
import { execute } from "../support/postgres.ts";
import { makeCall, productCount } from "../support/scale-load/calls.ts";
import { type LoadedAccount, newLoadedAccount, openClient, recordKinds } from "../support/scale-load/client.ts";
import { canStartPostgres, type OwnPostgres, startOwnPostgres } from "../support/scale-load/postgres.ts";
import { recount } from "../support/scale-load/recount.ts";
import { RestartedServer } from "../support/scale-load/servers.ts";
import { compareLedgers } from "../support/scale-load/stored-keys.ts";
import { aheadEnv, type Home, Homes } from "../support/starpost.ts";
import { chooseSize, isSlowSuite } from "../support/suite-size.ts";

/** How long the load lasts; `npm run test:slow` uses ten minutes. */
const loadMs = 1_000 * Number(process.env["STARPOST_TEST_LOAD_SECONDS"] ?? chooseSize(5, 600));
const accountCount = chooseSize(4, 16);
const clientsPerAccount = 2;
const killEveryMs = Math.min(20_000, loadMs / 3);
/** Longer than a server that hangs holds the lock of an account. */
const hangMs = Math.min(20_000, loadMs / 5);
const hangEveryMs = Math.min(60_000, loadMs / 2);

const homes = new Homes();
afterAll(() => homes.remove());

/** Kills one server after the other, lets them hang, and restarts PostgreSQL twice, until the time is up. */
async function disturb(servers: readonly RestartedServer[], postgres: OwnPostgres): Promise<string[]> {
  const done: string[] = [];
  const events = [
    ...Array.from({ length: Math.ceil(loadMs / killEveryMs) - 1 }, (_, nth) => ({
      atMs: (nth + 1) * killEveryMs,
      name: "kill",
      act: async () => servers[nth % servers.length]?.kill(),
    })),
    ...Array.from({ length: Math.ceil(loadMs / hangEveryMs) - 1 }, (_, nth) => ({
      atMs: nth * hangEveryMs + killEveryMs / 2,
      name: "hang",
      // The others go on in the meantime.
      act: async () => void servers[nth % servers.length]?.hang(hangMs),
    })),
    { atMs: loadMs * 0.4, name: "restart, fast", act: () => postgres.restart("fast") },
    { atMs: loadMs * 0.75, name: "restart, immediate", act: () => postgres.restart("immediate") },
  ].toSorted((a, b) => a.atMs - b.atMs);
  const startedMs = Date.now();
  for (const { atMs, name, act } of events) {
    await sleep(Math.max(0, startedMs + atMs - Date.now()));
    await act();
    done.push(name);
  }
  await sleep(Math.max(0, startedMs + loadMs - Date.now()));
  return done;
}

async function createAccount(home: Home): Promise<LoadedAccount> {
  const { data } = await home.json<{ app_key: string; secret: string }>(["account", "create"]);
  await home.json(["account", "enable-email", data.app_key, "--yes"]);
  return newLoadedAccount(data);
}

/** Lets emails be due at once, and creates what the calls of the load refer to. */
async function prepare(account: LoadedAccount, url: string): Promise<void> {
  const client = openClient(url, account);
  const product = { name: "Product", url: "https://shop.example" };
  const products = Object.fromEntries(Array.from({ length: productCount }, (_, n) => [`p${n}`, product]));
  await client.store.products.massCreate({ products });
  await client.store.groups.create({ group_name: "Group" });
  await client.store.emailRules.set({ name: "due_after_days", value: 0 });
  await client.close();
}

/** The tokens of links with which questions are confirmed, from the newest emails of an account. */
async function readConfirmations(url: string, appKey: string) {
  const rows = await execute(
    `select data from mails where category = 'question_confirmation' and account_id =
      (select id from accounts where app_key = '${appKey}') order by id desc limit 10`,
    url,
  ).catch(() => []);
  return rows.map(({ data }) => {
    const { confirm_url, question_id } = JSON.parse(String(data)) as { confirm_url: string; question_id: number };
    return { token: confirm_url.slice(confirm_url.lastIndexOf("/") + 1), questionId: question_id };
  });
}

/** Creates orders whose emails are due in an hour. Only a server that trusts its own clock sends them before. */
async function createLaterEmails(account: LoadedAccount, url: string, databaseUrl: string): Promise<void> {
  const client = openClient(url, account);
  await client.store.emailRules.set({ name: "due_after_days", value: 60 });
  const [order_date = ""] = new Date().toISOString().split("T");
  for (let n = 0; n < 50; n += 1) {
    const order = anOrder({ order_id: `later-${n}`, email: `later${n}@mail.example`, order_date });
    await client.store.orders.create({ platform: "general", ...order });
  }
  await client.close();
  const of = `account_id = (select id from accounts where app_key = '${account.appKey}')`;
  const due = "extract(epoch from now())::bigint * 1000 + 3600000";
  await execute(`update mails set due_at = ${due} where ${of}`, databaseUrl);
  await execute(`update account_versions set emails_due_at = ${due} where ${of}`, databaseUrl);
}

/**
 * Finds emails that were sent before they were due, or more than once although none was taken up: a server takes up an email
 * if another one was lost while sending it.
 */
async function findWrongEmails({ accepted }: CountingMailServer, databaseUrl: string): Promise<string[]> {
  const select = async (query: string) => new Set((await execute(query, databaseUrl)).map(({ id }) => String(id)));
  const early = await select(
    "select id from mails where sent_at < due_at or sent_at > extract(epoch from now()) * 1000",
  );
  const later = await select(
    `select mails.id from mails join orders on orders.id = mails.order_row and orders.account_id = mails.account_id
      where orders.order_id like 'later-%'`,
  );
  const takenUp = await select("select mail_row as id from mail_events where event = 'taken_up'");
  const counts = new Map<string, number>();
  for (const { messageId } of accepted) {
    const [id = ""] = messageId.slice(1).split("-");
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  const wrong = [...counts].flatMap(([id, count]) => {
    if (later.has(id)) return [`${id}: early`];
    return count > 1 && !takenUp.has(id) ? [`${id}: ${count} times`] : [];
  });
  const repeated = [...counts.values()].filter((count) => count > 1).length;
  process.stdout.write(`${counts.size} emails, ${repeated} of them more than once; ${later.size} that are due later\n`);
  return [...wrong, ...[...early].map((id) => `${id}: sent before it was due`)];
}

let keys = 0;

/** Makes calls until the time is up. @returns errors that no client should get */
async function runClient(account: LoadedAccount, url: string, databaseUrl: string, seed: number): Promise<string[]> {
  const unexpected: string[] = [];
  const client = openClient(url, account);
  const random = createRandom(seed);
  const endMs = Date.now() + loadMs;
  const step = {
    account,
    client,
    random,
    newKey: () => `${++keys}`,
    readConfirmations: () => readConfirmations(databaseUrl, account.appKey),
  };
  while (Date.now() < endMs) {
    try {
      await makeCall(step);
    } catch (error) {
      // After several attempts, a client gives up.
      if (!(error instanceof ServiceError) || !error.temporary) unexpected.push(String(error));
    }
  }
  await client.close();
  return unexpected;
}

function formatCounts(accounts: readonly LoadedAccount[]): string {
  const counts = recordKinds.map((kind) => {
    const ledgers = accounts.map((account) => account.ledgers[kind]);
    const sum = (name: "acknowledged" | "uncertain") => ledgers.reduce((all, one) => all + one[name].size, 0);
    return `${kind} ${sum("acknowledged")} (+${sum("uncertain")} unknown)`;
  });
  return counts.join(", ");
}

it.skipIf(!canStartPostgres)(
  "killed servers and restarts of PostgreSQL under load lose nothing, and all totals equal a recount",
  async () => {
    const postgres = await startOwnPostgres();
    const smtp = await startCountingMailServer();
    const env = {
      STARPOST_DATABASE: postgres.url,
      STARPOST_KEY: randomBytes(32).toString("hex"),
      ...smtp.env,
      STARPOST_MAIL_FROM: "shop@shop.example",
    };
    const servers = [env, { ...env, ...aheadEnv }].map(
      (own) => new RestartedServer(homes.open(own), ["--bottom-lines-delay", "0"]),
    );
    onTestFinished(async () => {
      await Promise.all(servers.map((server) => server.stop()));
      await postgres.stop();
      await smtp.close();
    });
    const accounts: LoadedAccount[] = [];
    const home = homes.open(env);
    for (let n = 0; n < accountCount; n += 1) accounts.push(await createAccount(home));
    for (const server of servers) await server.start();
    const [url = ""] = servers.map((server) => server.url);
    for (const account of accounts) await prepare(account, url);
    await createLaterEmails(await createAccount(home), url, postgres.url);
    const running = accounts.flatMap((account, at) =>
      Array.from({ length: clientsPerAccount }, (_, nth) =>
        runClient(account, servers[nth % servers.length]?.url ?? "", postgres.url, at * 100 + nth),
      ),
    );
    const disturbed = await disturb(servers, postgres);
    const unexpected = (await Promise.all(running)).flat();
    await Promise.all(servers.map((server) => server.stop()));
    process.stdout.write(`${disturbed.length} disturbances; ${formatCounts(accounts)}\n`);
    expect.soft(disturbed.filter((name) => name === "kill").length).toBeGreaterThan(1);
    expect.soft(disturbed).toContain("hang");
    expect.soft(unexpected).toEqual([]);
    expect.soft(await findWrongEmails(smtp, postgres.url)).toEqual([]);
    expect.soft(await compareLedgers(postgres.url, accounts)).toEqual([]);
    expect.soft(await recount(postgres.url)).toEqual({});
    expect.soft(postgres.readLog()).not.toMatch(/deadlock detected/);
    expect.soft(servers.flatMap(({ errors }) => errors).filter((line) => line.includes('"msg":"bug"'))).toEqual([]);
    const missing = recordKinds.filter((kind) =>
      accounts.every(({ ledgers }) => ledgers[kind].acknowledged.size === 0),
    );
    expect.soft(isSlowSuite ? missing : missing.filter((kind) => kind === "orders")).toEqual([]);
  },
);
