import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { type CountedEmail, startCountingMailServer } from "../support/counting-mail-server.ts";
import { postgresServer, takeEmptyDatabase } from "../support/postgres.ts";
import { type Home, Homes, writeInto } from "../support/starpost.ts";
import { chooseSize } from "../support/suite-size.ts";

const homes = new Homes();
afterAll(() => homes.remove());

interface Progress {
  readonly campaign: { readonly state: string; readonly created_at: string };
  readonly emails: Readonly<Record<string, number>>;
}

const orders = chooseSize(150, 10_000);
const perSecond = chooseSize(100, 200);

async function openHome(dialect: string, env: Readonly<Record<string, string>>): Promise<Home> {
  const more = { STARPOST_MAIL_FROM: "shop@shop.example", STARPOST_PUBLIC_URL: "https://reviews.example" };
  if (dialect === "SQLite") return homes.open({ ...env, ...more });
  const { url, drop } = await takeEmptyDatabase();
  onTestFinished(drop);
  return homes.open({ ...env, ...more, STARPOST_DATABASE: url, STARPOST_KEY: randomBytes(32).toString("hex") });
}

async function importOrders(home: Home): Promise<void> {
  const rows = Array.from(
    { length: orders },
    (_, nth) => `o${nth},2024-05-01,P${nth},p${nth}@mail.example,pot,Pot,https://shop.example/pot`,
  );
  const head = "order_id,order_date,customer_name,email,product_id,product_name,product_url";
  const { app_key } = await home.init();
  await home.json(["account", "enable-email", app_key, "--yes"]);
  await home.json(["account", "set-email-quota", app_key, "1000000", "--yes"]);
  const { exitCode, stderr } = await home.json([
    "orders",
    "import",
    writeInto(home, "orders.csv", [head, ...rows].join("\n")),
    "--yes",
  ]);
  if (exitCode !== 0) throw new Error(stderr);
}

const recipientOf = ({ raw }: CountedEmail) => /^To: .*?(p\d+@mail\.example)/m.exec(raw)?.[1] ?? "";

it.each(["SQLite", ...(postgresServer === undefined ? [] : ["PostgreSQL"])])(
  "a campaign that is killed, stopped, and resumed sends each email once, at its rate, on %s",
  async (dialect) => {
    const smtp = await startCountingMailServer();
    onTestFinished(smtp.close);
    const home = await openHome(dialect, smtp.env);
    await importOrders(home);
    const create = [
      "mail",
      "campaign",
      "create",
      "--name",
      "2024",
      "--category",
      "custom_map",
      "--since",
      "2024-01-01",
    ];
    const words = [...create, "--rate", `${perSecond}/second`];
    expect(await home.json(words)).toMatchObject({ exitCode: 2, stdout: "" });
    const created = await home.json<{ id: number }>([...words, "--yes"]);
    expect(created).toMatchObject({ exitCode: 0, data: { id: 1, state: "running" } });
    expect((await home.json([...words, "--yes"])).exitCode).toBe(1);

    const startWorker = () => home.start(["mail", "run", "--lease", "5"], { timeout: 600_000 });
    const accepted = async (count: number) => {
      while (smtp.accepted.length < count) await sleep(20);
    };
    const killed = startWorker();
    await accepted(orders / 5);
    killed.kill("SIGKILL");
    await killed;
    const worker = startWorker();
    onTestFinished(() => void worker.kill("SIGKILL"));
    await accepted((orders * 2) / 5);
    const stopped = await home.json<Progress>(["mail", "campaign", "stop", "1"]);
    expect(stopped.data.campaign.state).toBe("stopped");
    await smtp.settled(orders);
    const sentBefore = smtp.accepted.length;
    await sleep(1_000);
    // The email that the killed worker was sending may follow.
    expect(smtp.accepted.length).toBeLessThanOrEqual(sentBefore + 1);
    expect(sentBefore).toBeLessThan(orders);
    await home.json(["mail", "campaign", "resume", "1"]);
    await accepted(orders);
    const show = async () => (await home.json<Progress>(["mail", "campaign", "show", "1"])).data;
    while ((await show()).emails["sent"] !== orders) await sleep(500);
    worker.kill("SIGTERM");
    await worker;

    const { campaign, emails } = await show();
    expect({ state: campaign.state, emails }).toMatchObject({ state: "done", emails: { sent: orders, not_sent: 0 } });
    expect(new Set(smtp.accepted.map(recipientOf)).size).toBe(orders);
    // One email may have been sent before the kill, and recorded by nobody. It has the same ID both times.
    expect(new Set(smtp.accepted.map(({ messageId }) => messageId)).size).toBe(orders);
    expect(smtp.accepted.length - orders).toBeLessThanOrEqual(1);
    const startMs = Date.parse(campaign.created_at);
    const early = smtp.accepted.filter(({ atMs }, nth) => atMs - startMs < ((nth - 1) / perSecond) * 1_000);
    expect(early).toEqual([]);
  },
  chooseSize(240_000, 1_800_000),
);
