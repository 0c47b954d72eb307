import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { aReview } from "../support/builders.ts";
import { startLoopback, sendJson } from "../support/loopback.ts";
import { postgresServer, takeEmptyDatabase } from "../support/postgres.ts";
import { signBySecret } from "../support/provider-events.ts";
import { type Home, Homes } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

/** The samples of a scrape, by name and labels. */
function readSamples(text: string): Map<string, number> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]));
}

/** The metrics that the dashboard and the conditions of the documentation query. */
function listQueried(): ReadonlySet<string> {
  const page = readFileSync("docs/operations/monitoring.md", "utf8");
  const conditions = page.slice(page.indexOf("## What to watch"));
  const text = readFileSync("docs/operations/grafana-dashboard.json", "utf8") + conditions;
  return new Set(text.match(/\b(?:starpost|nodejs|process)_\w+/g));
}

/** Reports to a server that the only email it has sent has bounced, as its provider does. */
async function reportBounce(home: Home, url: string): Promise<void> {
  const outbox = join(home.folder, "outbox");
  const [name = ""] = readdirSync(outbox);
  const message = readFileSync(join(outbox, name), "utf8");
  const [, smtpId] = /^Message-ID: (<.*>)\r$/im.exec(message) ?? [];
  const [, email] = /^To: .*?([^\s<>]+@[^\s<>]+)/im.exec(message) ?? [];
  const event = {
    email,
    "smtp-id": smtpId,
    event: "bounce",
    sg_event_id: "one",
    timestamp: Math.floor(Date.now() / 1_000),
  };
  const { data } = await home.json<{ url: string; secret: string }>(["mail", "provider-events"]);
  const signed = signBySecret(JSON.stringify([event]), data.secret, Date.now());
  const posted = await fetch(url + new URL(data.url).pathname, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "webhook-id": signed.webhook_id ?? "",
      "webhook-timestamp": signed.webhook_timestamp ?? "",
      "webhook-signature": signed.webhook_signature ?? "",
    },
    body: signed.body,
  });
  expect(await posted.json()).toMatchObject({ response: { accepted: 1 } });
}

test.each(["SQLite", ...(postgresServer === undefined ? [] : ["PostgreSQL"])])(
  "a scrape contains what the dashboard and the documentation query, and counts what was sent, on %s",
  async (dialect) => {
    const env: Record<string, string> = { STARPOST_ALLOW_PRIVATE_WEBHOOKS: "on" };
    if (dialect === "PostgreSQL") {
      const { url, drop } = await takeEmptyDatabase();
      onTestFinished(drop);
      env["STARPOST_DATABASE"] = url;
    }
    const home = homes.open(env);
    await home.run(["products", "import", "fixtures/good/products.csv"]);
    const receiver = await startLoopback((response) => sendJson(response, 500, {}));
    onTestFinished(() => receiver.close());
    await home.run(["webhooks", "create", receiver.url]);
    const server = home.start(["serve", "--port", "0", "--metrics-port", "0", "--backup-every", "1h", "--json"]);
    onTestFinished(() => void server.kill("SIGKILL"));
    const line = await new Promise<string>((found) => {
      server.stdout?.once("data", (data: Buffer) => found(data.toString()));
    });
    const { url, metrics_url: metricsUrl } = JSON.parse(line) as { url: string; metrics_url: string };
    const { data } = await home.json<{ app_key: string }>(["auth", "credentials"]);
    const posted = await fetch(`${url}/v1/widget/reviews`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ appkey: data.app_key, ...aReview() }),
    });
    expect(posted.status).toBe(200);
    const fetchText = async () => (await fetch(`${metricsUrl}/metrics`)).text();
    const scrape = async () => readSamples(await fetchText());
    const read = async (names: readonly string[]) => {
      const samples = await scrape();
      return names.map((name) => samples.get(`starpost_${name}`));
    };
    const counted = ['emails_total{result="sent"}', 'webhook_deliveries_total{result="deferred"}'];
    await expect.poll(() => read(counted), { timeout: 20_000 }).toEqual([1, 1]);
    await reportBounce(home, url);
    expect(await read(['emails_total{result="bounced"}', 'emails_total{result="sent"}'])).toEqual([1, 1]);
    await expect
      .poll(() => read(["backup_last_success_timestamp_seconds"]), { timeout: 20_000 })
      .toEqual([expect.any(Number)]);
    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
    expect(
      await read([
        `build_info{version="${version}"}`,
        'imports{state="finished"}',
        "webhook_backlog",
        "webhook_delay_seconds",
      ]),
    ).toEqual([1, 1, 0, 0]);

    const histograms = [...(await fetchText()).matchAll(/^# TYPE (\w+) histogram$/gm)].map(([, name]) => name);
    const names = new Set([...[...(await scrape()).keys()].map((name) => name.replace(/\{.*/, "")), ...histograms]);
    const missing = [...listQueried()].filter((name) => !names.has(name));
    expect(missing).toEqual(dialect === "PostgreSQL" ? [] : ["starpost_database_pool_connections"]);
    server.kill("SIGTERM");
    expect((await server).exitCode).toBe(0);
  },
  60_000,
);
