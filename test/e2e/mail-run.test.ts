import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, describe, expect, onTestFinished, test } from "vitest";
import { type CountingMailServer, startCountingMailServer } from "../support/counting-mail-server.ts";
import { execute, postgresServer, postgresSkipped, takeEmptyDatabase } from "../support/postgres.ts";
import { aheadEnv, type Home, Homes } from "../support/starpost.ts";
import { SqliteFile } from "../../src/storage/sqlite/sqlite-file.ts";
import { chooseSize } from "../support/suite-size.ts";

const homes = new Homes();
afterAll(() => homes.remove());

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function startServer(): Promise<CountingMailServer> {
  const server = await startCountingMailServer();
  closing.push(() => server.close());
  return server;
}

/** A home with a separate database. */
async function openHome(isOnPostgres: boolean): Promise<Home> {
  if (!isOnPostgres) return homes.open();
  const { url, drop } = await takeEmptyDatabase();
  closing.push(drop);
  return homes.open({ STARPOST_DATABASE: url, STARPOST_KEY: randomBytes(32).toString("hex") });
}

/** The mail settings of a process; the sender address identifies the process. */
function by(server: CountingMailServer | undefined, name = "shop"): { env: Record<string, string> } {
  const env = { STARPOST_PUBLIC_URL: "https://reviews.example" };
  if (!server) return { env };
  return { env: { ...env, ...server.env, STARPOST_MAIL_FROM: `${name}@shop.example` } };
}

/** Creates due orders through the API, each from a different person. */
async function order(home: Home, count: number, args: readonly string[] = ["--no-worker"]) {
  const server = await home.serve(args);
  const { url, app_key, secret } = server;
  const call = async (path: string, body: object) => {
    const response = await fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(200);
    return (await response.json()) as Record<string, unknown>;
  };
  const { access_token: utoken } = await call("/oauth/token", {
    client_id: app_key,
    client_secret: secret,
    grant_type: "client_credentials",
  });
  const order_date = new Date(Date.now() - 20 * 86_400_000).toISOString().slice(0, 10);
  const products = { pot: { name: "Teapot", url: "https://shop.example/pot", image: "" } };
  for (let from = 0; from < count; from += 200) {
    const orders = Array.from({ length: Math.min(200, count - from) }, (_, nth) => ({
      order_id: `o${from + nth}`,
      email: `p${from + nth}@mail.example`,
      customer_name: `P ${from + nth}`,
      order_date,
      products,
    }));
    await call(`/apps/${app_key}/purchases/mass_create`, { utoken, platform: "general", orders });
  }
  return server;
}

type Sent = Record<"sent" | "not_sent" | "deferred" | "bounced" | "failed", number>;
interface Summary {
  readonly state: string;
  readonly mails: Sent;
  readonly webhooks: Record<string, number>;
  readonly problem: string | null;
}

const none: Sent = { sent: 0, not_sent: 0, deferred: 0, bounced: 0, failed: 0 };

interface LogLine {
  readonly level: string;
  readonly msg: string;
  /** The app key of the account of the email. */
  readonly account?: string;
  /** The ID of the email that the line is about. */
  readonly mail?: number;
  /** How many emails a worker took over. */
  readonly emails?: number;
}

/** Standard error, which contains nothing else. */
const readLog = (stderr: unknown) =>
  String(stderr)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as LogLine);

/** Waits for a condition, at most as long as a test may take. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(20);
}

const idOf = (messageId: string) => Number(/^<(\d+)-/.exec(messageId)?.[1]);
/** The number of emails that a worker claims at once. */
const claimedAtOnce = 50;
const distinct = <T>(items: readonly T[]) => new Set(items).size;

const databases = [
  ["SQLite", false],
  ["PostgreSQL", true],
] as const;
if (postgresServer === undefined) test.skip(`two workers on ${postgresSkipped}`);

describe.each(databases.filter(([, isOnPostgres]) => !isOnPostgres || postgresServer !== undefined))(
  "two workers on one %s database",
  (_name, isOnPostgres) => {
    const count = chooseSize(160, 2_000);

    test("lose no email when one is killed, send at most the one in flight twice, and log it", async () => {
      const server = await startServer();
      const home = await openHome(isOnPostgres);
      await (await order(home, count)).stop();
      // The worst case: the server has the message, and the worker is killed before it gets the response.
      let victim: string | undefined;
      const acceptedFrom = (name: string) => server.accepted.filter(({ from }) => from === name).length;
      server.dropsResponse = ({ from }) => {
        if (victim !== undefined || server.accepted.length < count / 4) return false;
        // Kill a worker only after both have sent emails, and before it finishes its batch, so that another one has
        // emails to take over.
        const sent = acceptedFrom(from);
        if (sent <= count / 20 || sent % claimedAtOnce < 10 || sent % claimedAtOnce > claimedAtOnce - 20) return false;
        victim = from;
        return true;
      };
      const run = (name: string) => home.start(["mail", "run", "--lease", "5", "--json"], by(server, name));
      const workers = { "one@shop.example": run("one"), "two@shop.example": run("two") };
      await until(() => victim !== undefined);
      const [killed, other] =
        victim === "one@shop.example"
          ? [workers["one@shop.example"], workers["two@shop.example"]]
          : [workers["two@shop.example"], workers["one@shop.example"]];
      const acceptedBefore = server.accepted.length;
      const doubled = server.accepted.findLast(({ from }) => from === victim) ?? expect.unreachable();
      killed.kill("SIGKILL");
      expect((await killed).signal).toBe("SIGKILL");
      await until(() => server.accepted.length >= count + 1);
      expect(acceptedBefore).toBeLessThan(count);
      other.kill("SIGTERM");
      const { exitCode, stderr } = await other;
      expect(exitCode).toBe(0);

      const ids = server.accepted.map(({ messageId }) => messageId);
      expect(distinct(ids)).toBe(count);
      expect(ids).toHaveLength(count + 1);
      expect(ids.filter((id) => id === doubled.messageId)).toHaveLength(2);
      for (const name of ["one@shop.example", "two@shop.example"]) {
        expect(acceptedFrom(name)).toBeGreaterThan(count / 20);
      }
      const log = readLog(stderr);
      expect(log.filter(({ msg }) => msg.includes("may arrive twice"))).toMatchObject([
        { level: "warn", mail: idOf(doubled.messageId) },
      ]);
      expect(log.some(({ level, emails = 0 }) => level === "warn" && emails > 0)).toBe(true);
      expect(String(stderr)).not.toContain("@mail.example");
      const again = await home.json<Summary>(["mail", "run", "--once"], by(server));
      expect(again).toMatchObject({ exitCode: 0, data: { mails: none, problem: null } });
    });

    // Files do not depend on the database.
    test.skipIf(isOnPostgres)("write no email twice to the outbox folder", async () => {
      const written = chooseSize(120, 2_000);
      const home = await openHome(isOnPostgres);
      await (await order(home, written)).stop();
      const folder = join(home.folder, "outbox");
      const list = () => {
        try {
          return readdirSync(folder).filter((name) => name.endsWith(".eml"));
        } catch {
          return [];
        }
      };
      const run = () => home.start(["mail", "run", "--lease", "5"], by(undefined));
      let [killed, other] = [run(), run()];
      // Each time during a different operation.
      for (const part of [0.2, 0.4, 0.6]) {
        await until(() => list().length >= written * part);
        killed.kill("SIGKILL");
        await killed;
        [killed, other] = [other, run()];
      }
      await until(() => list().length >= written);
      for (const worker of [killed, other]) {
        worker.kill("SIGTERM");
        expect((await worker).exitCode).toBe(0);
      }
      const names = list();
      expect(names).toHaveLength(written);
      expect(distinct(names.map((name) => name.slice(name.indexOf("-") + 1)))).toBe(written);
      // Emails of a killed worker wait for its lease to expire; existing files are detected.
      const database = new SqliteFile(join(home.folder, "starpost.db"));
      database.execute("update mails set leased_until = 0 where leased_until is not null");
      database.execute("update account_versions set emails_due_at = 0");
      database.close();
      const last = await home.json<Summary>(["mail", "run", "--once"], by(undefined));
      expect([last.exitCode, list()]).toEqual([0, names]);
    });
  },
);

describe.skipIf(postgresServer === undefined)("two servers whose clocks differ by hours", () => {
  test("send each email once, and none before it is due", async () => {
    const smtp = await startServer();
    // Long enough that leases of one server could seem expired to the other one.
    smtp.beforeResponse = () => sleep(10);
    const home = await openHome(true);
    await (await order(home, 121)).stop();
    const { STARPOST_DATABASE: url = "" } = home.env;
    const later = await execute(
      `update mails set due_at = extract(epoch from now()) * 1000 + 3600000
        where id = (select max(id) from mails) returning id::int`,
      url,
    );
    const serve = (name: string, env: Record<string, string> = {}) =>
      homes.open({ ...home.env, ...by(smtp, name).env, ...env }).serve();
    const servers = await Promise.all([serve("one"), serve("ahead", aheadEnv)]);
    await until(() => smtp.accepted.length >= 120);
    // Both look for due emails every second.
    await sleep(2_500);
    expect(await Promise.all(servers.map(({ stop }) => stop()))).toEqual([0, 0]);
    const ids = smtp.accepted.map(({ messageId }) => idOf(messageId));
    expect([ids.length, distinct(ids), distinct(smtp.accepted.map(({ from }) => from))]).toEqual([120, 120, 2]);
    expect(await execute("select id::int from mails where state = 'queued'", url)).toEqual(later);
    const times = await execute(
      "select count(*)::int as late from mails where sent_at > extract(epoch from now()) * 1000",
      url,
    );
    expect(times).toEqual([{ late: 0 }]);
  });
});

describe("mail run", () => {
  test("sends all due emails once, and reports the results", async () => {
    const server = await startServer();
    const home = await openHome(false);
    await (await order(home, 30)).stop();
    const { data, exitCode, stderr } = await home.json<Summary>(["mail", "run", "--once"], by(server));
    expect([exitCode, data.state, data.mails]).toEqual([0, "completed", { ...none, sent: 30 }]);
    expect(distinct(server.accepted.map(({ messageId }) => messageId))).toBe(30);
    const { data: credentials } = await home.json<{ app_key: string }>(["auth", "credentials"]);
    const sent = readLog(stderr).filter(({ msg }) => msg === "sent");
    expect(sent.map(({ account }) => account)).toEqual(Array.from({ length: 30 }, () => credentials.app_key));
    expect(stderr).not.toContain("@mail.example");
    expect(await home.json<Summary>(["mail", "run", "--once"], by(server))).toMatchObject({
      exitCode: 0,
      data: { mails: none },
    });
  });

  test("sends the built-in email if a template is broken", async () => {
    const server = await startServer();
    const home = await openHome(false);
    await (await order(home, 3)).stop();
    await home.run(["mail", "test", "--to", "ann@mail.example"]);
    const file = new SqliteFile(join(home.folder, "starpost.db"));
    file.run(
      "insert into mail_templates (account_id, category, subject, text, html, updated_at) select id, 'map', 'Well?', '{% if %}', '{{ broken', 0 from accounts",
      [],
    );
    file.run("update mails set category = 'reminder' where order_row is null", []);
    const { data, exitCode } = await home.json<Summary>(["mail", "run", "--once"], by(server));
    const states = file.all("select state, reason is null as fine from mails order by id");
    file.close();
    expect([exitCode, data.mails.failed, data.mails.sent]).toEqual([0, 0, 4]);
    expect(server.accepted).toHaveLength(4);
    expect(states).toEqual(Array.from({ length: 4 }, () => ({ state: "sent", fine: 1 })));
  });

  test("exits with 5 if no email can be sent, and loses none", async () => {
    const server = await startServer();
    const home = await openHome(false);
    await (await order(home, 3)).stop();
    await server.close();
    const failed = await home.json<Summary>(["mail", "run", "--once"], by(server));
    expect([failed.exitCode, failed.data.mails]).toEqual([5, none]);
    expect(failed.data.problem).toContain(String(server.port));
    const other = await startServer();
    const sent = await home.json<Summary>(["mail", "run", "--once"], by(other));
    expect([sent.exitCode, sent.data.mails.sent]).toEqual([0, 3]);
  });

  test("continues when the mail server is back, and sends new emails", async () => {
    const first = await startServer();
    const home = await openHome(false);
    const api = await order(home, 2);
    await first.close();
    const run = home.start(["mail", "run"], by(first));
    onTestFinished(() => void run.kill("SIGKILL"));
    let output = "";
    run.stderr?.on("data", (data: Buffer) => (output += data.toString()));
    await until(() => output.includes('"level":"error"'));
    const back = await startCountingMailServer(first.port);
    closing.push(() => back.close());
    await until(() => back.accepted.length === 2);
    await home.run(["mail", "test", "--to", "ann@mail.example"]);
    await until(() => back.accepted.length === 3);
    await api.stop();
    run.kill("SIGTERM");
    const { exitCode, stderr } = await run;
    expect(exitCode).toBe(0);
    const log = readLog(stderr);
    expect(log.filter(({ level }) => level === "error")).toHaveLength(1);
    expect(log.some(({ level, msg }) => level === "info" && msg.includes("again"))).toBe(true);
  });

  test("finishes the email in flight when stopped, and releases the others", async () => {
    const server = await startServer();
    const home = await openHome(false);
    await (await order(home, 40)).stop();
    const answers: (() => void)[] = [];
    server.beforeResponse = () => new Promise((resolve) => answers.push(resolve));
    const run = home.start(["mail", "run"], by(server));
    onTestFinished(() => void run.kill("SIGKILL"));
    await until(() => server.accepted.length === 1);
    run.kill("SIGTERM");
    await sleep(500);
    expect(run.exitCode).toBeNull();
    server.beforeResponse = undefined;
    answers[0]?.();
    expect((await run).exitCode).toBe(0);
    const file = new SqliteFile(join(home.folder, "starpost.db"));
    const states = file.all("select state, count(*) as mails from mails group by state order by state");
    file.close();
    expect(states).toEqual([
      { state: "queued", mails: 39 },
      { state: "sent", mails: 1 },
    ]);
  });

  test("rejects a remote profile and invalid leases", async () => {
    const home = homes.open({
      STARPOST_BASE_URL: "http://127.0.0.1:9",
      STARPOST_APP_KEY: "key",
      STARPOST_SECRET: "secret",
    });
    const refused = await home.run(["mail", "run", "--once"]);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain("remote");
    const wrong = await homes.open().run(["mail", "run", "--lease", "4"]);
    expect(wrong.exitCode).toBe(2);
    expect(wrong.stderr).toContain("--lease");
  });
});

describe("serve", () => {
  test("sends due emails, except with --no-worker", async () => {
    const server = await startServer();
    const home = homes.open(by(server).env);
    const silent = await order(home, 2, ["--no-worker"]);
    await silent.stop();
    expect(String((await silent.process).stderr)).not.toContain("the mail server");
    expect(server.accepted).toEqual([]);
    const sending = await home.serve();
    await until(() => server.accepted.length === 2);
    expect(await sending.stop()).toBe(0);
    expect(String((await sending.process).stderr)).toContain("the mail server");
  });
});
