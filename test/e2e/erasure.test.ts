import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import { wordsOf, zeb } from "../support/customers.ts";
import { sendJson, startLoopback } from "../support/loopback.ts";
import { type SmtpDecision, type SmtpStep, startMailServer } from "../support/mail-server.ts";
import { execute, postgresServer, takeEmptyDatabase } from "../support/postgres.ts";
import { type Home, Homes, remoteEnv, writeInto } from "../support/starpost.ts";

const homes = new Homes();
const drops: (() => Promise<void>)[] = [];
/** The user's own files, which an erasure does not change. */
const outside = mkdtempSync(join(tmpdir(), "starpost-files-"));
afterAll(async () => {
  homes.remove();
  rmSync(outside, { recursive: true, force: true });
  for (const drop of drops) await drop();
});

const { email, name, text } = zeb;
const words = wordsOf(zeb);
const day = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);

/** The decoded forms of a file in which personal data may hide. */
function* readForms(path: string): Generator<string> {
  const bytes = readFileSync(path);
  const raw = bytes.toString("latin1");
  yield raw;
  yield bytes.toString("utf16le");
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) yield gunzipSync(bytes).toString("latin1");
  yield raw
    .replaceAll(/=\r?\n/g, "")
    .replaceAll(/=([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number(`0x${code}`)));
  for (const [encoded] of raw.matchAll(/(?:[A-Za-z0-9+/]{20,}\r?\n?)+={0,2}/g))
    yield Buffer.from(encoded, "base64").toString("latin1");
}

/** Finds the files of a folder that contain a word, in any of these forms. */
function findFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => statSync(join(folder, file)).isFile())
    .flatMap((file) => {
      const forms = [...readForms(join(folder, file))].map((form) => form.toLowerCase());
      return words.filter((word) => forms.some((form) => form.includes(word))).map((word) => `${file}: ${word}`);
    });
}

const products = "product_id,product_name,product_url";
const orders = `order_id,order_date,customer_name,email,${products}
1,${day(30)},Bob,bob@mail.example,teapot,Teapot,https://shop.example/teapot
2,${day(30)},${name},${email},teapot,Teapot,https://shop.example/teapot
3,31.31.2026,${name},${email},teapot,Teapot,https://shop.example/teapot
`;
const reviews = `product_id,review_title,review_content,review_score,display_name,email,date
teapot,${text} past,"${text}, and more",4,${name},${email},${day(10)}
`;
const question = JSON.stringify({
  review_content: `${text} question?`,
  display_name: name,
  email,
  product_id: "teapot",
  product_title: "Teapot",
  product_url: "https://shop.example/teapot",
});
const review = JSON.stringify({
  sku: "teapot",
  product_title: "Teapot",
  product_url: "https://shop.example/teapot",
  display_name: name,
  email,
  review_content: `${text} content`,
  review_title: `${text} title`,
  review_score: 5,
});

/** Adds a customer by imports and by calls, and sends the emails. */
async function addCustomer(home: Home): Promise<readonly string[]> {
  const list = join(outside, "list.csv.gz");
  writeFileSync(list, gzipSync(`email\nbob@mail.example\n${email.toUpperCase()}\n`));
  const logs: string[] = [];
  const run = async (args: readonly string[], input?: string) => {
    const { exitCode, stdout, stderr } = await home.run(args, input === undefined ? {} : { input });
    if (exitCode !== 0 && !args.includes("import")) throw new Error(`${args.join(" ")}: ${stderr}`);
    logs.push(stderr);
    return stdout;
  };
  await run(["webhooks", "create", "https://shop.example/hook"]);
  await run(["orders", "import", "-", "--send-mail", "--json"], orders);
  await run(["reviews", "import", "-", "--json"], reviews);
  await run(["unsubscribers", "import", list, "--type", "2"]);
  await run(["reviews", "create", "--input", "-"], review);
  await run(["questions", "ask", "--input", "-"], question);
  await run(["reviews", "comment", "1", "--content", `${text} comment`]);
  await run(["reviews", "hide", "1", "--reason", `${name} asked`]);
  await run(["mail", "run", "--once"]);
  return logs;
}

/** Exports the customer to standard output and to an archive, which is not overwritten. */
async function exportCustomer(home: Home, archive: string): Promise<void> {
  const exported = (await home.run(["customers", "export", email])).stdout.toLowerCase();
  for (const word of [...words, "past", "question?", "comment", "asked", "31.31.2026", "content-type"])
    expect(exported).toContain(word);
  const zip = await home.json<{ bytes: number }>(["customers", "export", email, "--out", archive]);
  expect(zip.data.bytes).toBe(statSync(archive).size);
  expect([statSync(archive).mode & 0o777, readFileSync(archive).toString("latin1", 0, 2)]).toEqual([0o600, "PK"]);
  const again = await home.run(["customers", "export", email, "--out", archive]);
  expect([again.exitCode, again.stderr]).toEqual([2, expect.stringContaining("--out")]);
  const nowhere = await home.run(["customers", "export", email, "--out", join(archive, "zeb.json")]);
  expect([nowhere.exitCode, nowhere.stderr]).toEqual([1, expect.stringContaining("Pass --out")]);
}

test.each(["SQLite", ...(postgresServer === undefined ? [] : ["PostgreSQL"])])(
  "leaves nothing of a customer in the data folder and the database on %s",
  async (dialect) => {
    let url: string | undefined;
    if (dialect === "PostgreSQL") {
      const taken = await takeEmptyDatabase();
      drops.push(taken.drop);
      ({ url } = taken);
    }
    const home = homes.open(url === undefined ? {} : { STARPOST_DATABASE: url });
    await addCustomer(home);
    const before = new Set(findFiles(home.folder).map((found) => found.split("/")[0]?.split(":")[0]));
    expect([...before]).toEqual(
      expect.arrayContaining(["imports", "outbox", ...(url === undefined ? ["starpost.db"] : [])]),
    );
    if (url !== undefined) await execute("analyze", url);
    const backup = join(outside, `${dialect}.tar.gz`);
    expect((await home.run(["backup", "create", backup])).exitCode).toBe(0);
    await exportCustomer(home, join(outside, `${dialect}.zip`));
    expect((await home.run(["alias", "set", "zeb", `customers show ${email}`])).exitCode).toBe(0);
    const plan = await home.json<{ imports: unknown[]; kept_files: string[] }>(["customers", "erase", email, "--plan"]);
    expect(plan.data).toMatchObject({ state: "planned", backups: [backup] });
    const [list, aliases = ""] = plan.data.kept_files;
    expect([list, readFileSync(aliases, "utf8")]).toEqual([
      join(outside, "list.csv.gz"),
      expect.stringContaining(email),
    ]);
    expect((await home.run(["alias", "delete", "zeb"])).exitCode).toBe(0);
    expect(plan.data.imports).toHaveLength(3);
    const erased = await home.json<{ imports: { import_id: string }[] }>(["customers", "erase", email, "--yes"]);
    expect([erased.exitCode, erased.data]).toMatchObject([0, { state: "erased", erasure_id: 1, removed: true }]);
    expect(erased.stdout.toLowerCase()).not.toContain("zebulon");
    expect(findFiles(home.folder)).toEqual([]);
    const id = erased.data.imports[0]?.import_id ?? "";
    for (const verb of ["undo", "verify"]) {
      const { exitCode, stderr } = await home.run(["imports", verb, id, "--yes"]);
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining("were removed")]);
    }
    expect((await home.json<unknown[]>(["imports", "list"])).data).toHaveLength(3);
    expect((await home.run(["customers", "erasures"])).stdout).toContain("anonymize");
    if (url !== undefined) await expectNothingInServer(url);
  },
  60_000,
);

/** Repeats the search, because `vacuum full` keeps deleted rows that another transaction of the server may still read. */
const expectNothingInServer = (url: string) =>
  expect.poll(() => findInServer(url), { timeout: 15_000, interval: 500 }).toEqual([]);

/** Finds what is left in a PostgreSQL database: in rows, and in the bytes of tables, indexes, and statistics. */
async function findInServer(url: string): Promise<readonly string[]> {
  const dump = execFileSync("pg_dump", [url], { encoding: "latin1", maxBuffer: 1e9 }).toLowerCase();
  const statistics = await execute("select * from pg_stats where schemaname = 'public'", url);
  // Pages keep deleted bytes until they are rewritten.
  await execute("vacuum full", url);
  await execute("checkpoint", url);
  const files = await execute(
    `select relname, encode(pg_read_binary_file(pg_relation_filepath(oid)), 'escape') as bytes from pg_class
     where relkind in ('r', 't', 'i') and (relname = 'pg_statistic'
       or relnamespace in ('public'::regnamespace, 'pg_toast'::regnamespace))`,
    url,
  );
  const texts = { dump, statistics: JSON.stringify(statistics) };
  const places = [
    ...Object.entries(texts),
    ...files.map(({ relname, bytes }) => [String(relname), String(bytes)] as const),
  ];
  return places.filter(([, bytes]) => words.some((word) => bytes.toLowerCase().includes(word))).map(([place]) => place);
}

/** A receiver of webhooks and a mail server that quote the customer when they refuse. */
async function startReceivers() {
  const hooks = await startLoopback((response) => sendJson(response, 500, { error: `${name} <${email}>: ${text}` }));
  const refusals: Partial<Record<SmtpStep, readonly SmtpDecision[]>> = {
    rcpt: [
      { code: 421, text: `4.7.0 too much for <${email}>` },
      { code: 450, text: `4.2.1 <${email}>: ${name} waits` },
    ],
    data: [{ code: 554, text: `5.7.1 ${text} of ${name} <${email}>` }],
  };
  const counts = { rcpt: 0, data: 0 };
  const mail = await startMailServer({
    decide: (step) => (step === "rcpt" || step === "data" ? refusals[step]?.[counts[step]++] : undefined),
  });
  return { hooks, mail, close: () => Promise.all([hooks.close(), mail.close()]) };
}

/** What support staff and integrations do with a customer's records over HTTP, including failing requests. */
async function spendDay(
  home: Home,
  { url, app_key }: { readonly url: string; readonly app_key: string },
  hook: string,
) {
  const run = async (args: readonly string[], input = "", status = 0) => {
    const { exitCode, stdout, stderr } = await home.run(args, { input });
    if (exitCode !== status) throw new Error(`${args.join(" ")}: ${exitCode} ${stderr}`);
    return stdout;
  };
  for (const event of ["review_create", "question_answered", "review_hidden"]) {
    await run(["webhooks", "create", hook, "--event", event]);
  }
  await run(["orders", "import", "-", "--send-mail"], orders, 3);
  await run(["reviews", "import", "-"], reviews);
  await run(["reviews", "rules", "add", "hold", "--word", name, "--reason", `${name} again`]);
  await run(["reviews", "create", "--input", "-"], review);
  await run(["questions", "ask", "--input", "-"], question);
  await run(["reviews", "comment", "1", "--content", `${text} comment`]);
  await run(["reviews", "edit-comment", "1", "--content", "Thank you", "--reason", `named ${name}`]);
  await run(["reviews", "hide", "1", "--reason", `${name} asked`]);
  await run(["questions", "publish", "1", "--reason", `${name} waits`]);
  const author = ["--display-name", name, "--email", email];
  await run(["questions", "answer", "1", "--content", `${text} answer`, ...author]);
  await run(["questions", "answer", "1", "--content", `Hello ${name}, ${text}`]);
  await run(["questions", "edit-answer", "2", "--content", "It does.", "--reason", `named ${name}`, "--yes"]);
  await run(["coupons", "import", "-", "--action", "map_review"], `code\n${email}/10\n`);
  await run(["unsubscribers", "add", email, "--type", "reviews"]);
  await run(["reviews", "list", "--search", text, "--email", email]);
  await run(["mail", "why", "--email", email]);
  await run(["customers", "show", email]);
  const encoded = encodeURIComponent(email);
  const json = { "content-type": "application/json", "user-agent": `${name} ${email}`, referer: `${url}/?${encoded}` };
  const product_url = `https://shop.example/kettle?email=${encoded}`;
  const visitorReview = { ...JSON.parse(review), appkey: app_key, sku: "kettle", product_url } as unknown;
  const bad = { method: "POST", headers: json, body: `{"email": "${email}", "text": "${text}` };
  const replies = await Promise.all([
    fetch(`${url}/${encoded}/${text}?name=${encodeURIComponent(name)}`),
    fetch(`${url}/apps/${app_key}/purchases?utoken=${encoded}`, { headers: json }),
    fetch(`${url}/reviews/dynamic_create`, bad),
    fetch(`${url}/v1/widget/${app_key}/products/${encoded}/reviews?page=${text}`),
    fetch(`${url}/unsubscribe?token=${encoded}`),
    fetch(`${url}/reviews/1/vote/up?email=${encoded}`),
    fetch(`${url}/v1/widget/reviews`, { method: "POST", headers: json, body: JSON.stringify(visitorReview) }),
  ]);
  expect(replies.every(({ status }) => status >= 400 || status === 200)).toBe(true);
}

test.each(["SQLite", ...(postgresServer === undefined ? [] : ["PostgreSQL"])])(
  "logs nothing about a customer in a server on %s, and leaves nothing while it runs",
  async (dialect) => {
    const receivers = await startReceivers();
    const env: Record<string, string> = {
      STARPOST_SMTP_HOST: receivers.mail.host,
      STARPOST_SMTP_PORT: String(receivers.mail.port),
      STARPOST_SMTP_TLS: "none",
      STARPOST_MAIL_FROM: "Shop <shop@shop.example>",
      STARPOST_ALLOW_PRIVATE_WEBHOOKS: "on",
    };
    if (dialect === "PostgreSQL") {
      const taken = await takeEmptyDatabase();
      drops.push(taken.drop);
      env["STARPOST_DATABASE"] = taken.url;
    }
    const home = homes.open(env);
    const server = await home.serve();
    const remote = homes.open(remoteEnv(server));
    let log = "";
    server.process.stdout?.on("data", (data: Buffer) => (log += data.toString()));
    server.process.stderr?.on("data", (data: Buffer) => (log += data.toString()));
    await spendDay(remote, server, receivers.hooks.url);
    const outcomes = ["webhook delivery failed", "deferred by the mail server", '"bounced"', '"sent"'];
    const isBusy = () => outcomes.some((outcome) => !log.includes(outcome));
    for (let waited = 0; isBusy() && waited < 8_000; waited += 50) await sleep(50);
    expect(outcomes.filter((outcome) => !log.includes(outcome))).toEqual([]);
    const { stderr } = await remote.run(["customers", "erase", email, "--plan"]);
    expect(stderr).toContain("Backups of the service");
    const erased = await remote.json(["customers", "erase", email, "--yes"]);
    expect([erased.exitCode, erased.data]).toMatchObject([0, { state: "erased", removed: true }]);
    expect([...findFiles(home.folder), ...findFiles(remote.folder)]).toEqual([]);
    expect(await server.stop()).toBe(0);
    await receivers.close();
    expect(words.filter((word) => log.toLowerCase().includes(word))).toEqual([]);
    if (env["STARPOST_DATABASE"] !== undefined) await expectNothingInServer(env["STARPOST_DATABASE"]);
  },
  60_000,
);

test("refuses while an import that contains the customer can still be resumed", async () => {
  const home = homes.open();
  const { data } = await home.json(["orders", "import", "-", "--max-errors", "0"], { input: orders });
  expect(data.state).toBe("stopped");
  const { exitCode, stderr } = await home.run(["customers", "erase", email, "--yes"]);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`imports resume ${data.import_id}`)]);
  expect((await home.json<{ state: string }>(["customers", "erase", email, "--plan"])).data.state).toBe("planned");
});

test("an unknown customer is not exported, and moved files of imports are reported", async () => {
  const home = homes.open();
  const file = writeInto(home, "orders.csv", readFileSync("fixtures/good/orders.csv", "utf8"));
  await home.run(["orders", "import", file]);
  const unknown = await home.json(["customers", "export", "nobody@mail.example"]);
  expect([unknown.exitCode, unknown.stdout]).toEqual([1, ""]);
  const show = () => home.run(["customers", "show", "ada@example.com"]);
  expect((await show()).stderr).not.toContain(file);
  renameSync(file, `${file}.old`);
  expect((await show()).stderr).toContain(file);
  expect((await home.run(["customers", "erase", "ada@example.com", "--plan"])).stderr).toContain(file);
  const out = join(home.folder, "ada.json");
  const { stderr } = await home.run(["customers", "export", "ada@example.com", "--out", out]);
  expect(stderr).toMatch(/^ {2}orders: 1$/m);
  expect(stderr).toMatch(/^ {2}imports: 1$/m);
});
