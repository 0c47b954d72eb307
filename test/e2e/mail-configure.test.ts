import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { createCertificate } from "../support/certificate.ts";
import { type MailServer, type MailServerOptions, startMailServer } from "../support/mail-server.ts";
import { type Home, Homes } from "../support/starpost.ts";

const homes = new Homes();
const servers: MailServer[] = [];
afterAll(() => homes.remove());
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function start(options: MailServerOptions = {}): Promise<MailServer> {
  const server = await startMailServer(options);
  servers.push(server);
  return server;
}

interface Configured {
  readonly kind: string;
  readonly configured_by: string;
  readonly ready: boolean | null;
  readonly problem: string | null;
}

const password = "corréct-horse";
const from = "Tea & Cups <reviews@shop.example>";
const user = { name: "shop", password };
const flagsOf = ({ host, port }: MailServer) => [
  "--host",
  host,
  "--port",
  String(port),
  "--tls",
  "none",
  "--from",
  from,
];
const configure = (home: Home, ...args: string[]) => home.json<Configured>(["mail", "configure", ...args]);
const fileOf = (home: Home) => join(home.folder, "mail.json");

describe("mail configure", () => {
  it("shows the outbox folder if nothing is configured, and writes nothing", async () => {
    const home = homes.open();
    const { exitCode, data } = await configure(home);
    expect(exitCode).toBe(0);
    expect(data).toEqual({
      kind: "outbox",
      configured_by: "default",
      host: null,
      port: null,
      tls: null,
      user: null,
      has_password: false,
      from: null,
      outbox_folder: join(home.folder, "outbox"),
      ready: null,
      problem: null,
    });
    expect(existsSync(fileOf(home))).toBe(false);
    expect(existsSync(join(home.folder, "outbox"))).toBe(false);
  });

  it("stores the server and its password in a file readable only by its owner, and never shows the password", async () => {
    const home = homes.open();
    const server = await start({ user });
    const args = [...flagsOf(server), "--user", "shop", "--password-stdin", "--check", "--verbose"];
    const set = await home.run(["mail", "configure", ...args], { input: `${password}\n` });
    expect(set.exitCode).toBe(0);
    expect(set.stderr).toContain("not encrypted");
    expect(statSync(fileOf(home)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(fileOf(home), "utf8"))).toEqual({
      smtp: { host: server.host, port: server.port, tls: "none", user: "shop", password },
      from,
    });
    const shown = await configure(home, "--show");
    expect(shown.data).toMatchObject({ kind: "smtp", configured_by: "file", has_password: true, from, ready: null });
    const checked = await configure(home, "--check");
    expect(checked.data.ready).toBe(true);
    for (const { stdout, stderr } of [set, shown, checked]) expect(stdout + stderr).not.toContain(password);
  });

  it("exits with 5 and the reason if the server refuses, without showing the password", async () => {
    const home = homes.open({ STARPOST_SMTP_PASSWORD: "some-other-word" });
    const server = await start({ user });
    const found = await configure(home, ...flagsOf(server), "--user", "shop", "--check", "--verbose");
    expect(found.exitCode).toBe(5);
    expect(found.data).toMatchObject({ ready: false, problem: expect.stringMatching(/shop: 535/) as string });
    expect(found.stdout + found.stderr).not.toContain("some-other-word");
    const run = await home.run(["mail", "run", "--once", "--verbose"]);
    expect(run.stdout + run.stderr).not.toContain("some-other-word");
  });

  it("keeps omitted settings, but sends no password to another server or for another user", async () => {
    const home = homes.open();
    const server = await start({ user });
    await home.run(["mail", "configure", ...flagsOf(server), "--user", "shop", "--password-stdin"], {
      input: password,
    });
    const changed = await configure(home, "--from", "x@shop.example", "--tls", "opportunistic", "--port", "2525");
    expect(changed.data).toMatchObject({
      host: server.host,
      port: 2525,
      tls: "opportunistic",
      user: "shop",
      has_password: true,
      from: "x@shop.example",
    });
    expect((await configure(home, "--port", "2526")).data).toMatchObject({ port: 2526, tls: "opportunistic" });
    expect((await configure(home, "--port", "465")).data).toMatchObject({ port: 465, tls: "implicit" });
    expect((await configure(home, "--port", "587")).data).toMatchObject({ port: 587, tls: "starttls" });
    expect((await configure(home, "--no-user")).data).toMatchObject({ user: null, has_password: false });
    await home.run(["mail", "configure", "--user", "shop", "--password-stdin"], { input: password });
    for (const flags of [
      ["--host", "mail.elsewhere.example", "--user", "shop"],
      ["--user", "somebody"],
    ]) {
      const refused = await home.run(["mail", "configure", ...flags]);
      expect(refused.exitCode).toBe(2);
      expect(refused.stderr).toContain("--password-stdin");
    }
    expect((await configure(home, "--host", "mail.elsewhere.example")).data).toMatchObject({
      user: null,
      has_password: false,
      port: 587,
      tls: "starttls",
    });
    expect(readFileSync(fileOf(home), "utf8")).not.toContain(password);
  });

  it("switches back to the folder, and deletes the server", async () => {
    const home = homes.open();
    const server = await start({ user });
    await home.run(["mail", "configure", ...flagsOf(server), "--user", "shop", "--password-stdin"], {
      input: password,
    });
    const back = await configure(home, "--outbox");
    expect(back.data).toMatchObject({ kind: "outbox", from, has_password: false });
    expect(readFileSync(fileOf(home), "utf8")).not.toContain(password);
    expect((await configure(home, "--check")).data).toMatchObject({ kind: "outbox", ready: true });
  });

  it("can be done by the environment alone", async () => {
    const server = await start({ user });
    const env = {
      STARPOST_SMTP_HOST: server.host,
      STARPOST_SMTP_PORT: String(server.port),
      STARPOST_SMTP_TLS: "none",
      STARPOST_SMTP_USER: "shop",
      STARPOST_SMTP_PASSWORD: password,
      STARPOST_MAIL_FROM: from,
    };
    const home = homes.open(env);
    expect((await configure(home, "--check")).data).toMatchObject({
      kind: "smtp",
      configured_by: "environment",
      ready: true,
      from,
    });
    expect(existsSync(fileOf(home))).toBe(false);
    for (const name of ["STARPOST_SMTP_HOST", "STARPOST_SMTP_PASSWORD", "STARPOST_MAIL_FROM"]) {
      const refused = await home.run(["mail", "configure"], { env: { [name]: "" } });
      expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining(name)]);
      expect(refused.stderr).not.toContain(password);
    }
  });

  it.each([
    [["--port", "0"], "--port"],
    [["--tls", "ssl"], "--tls"],
    [["--host", "smtp.example:587", "--from", from], "--host"],
    [["--host", "smtp.example"], "--from"],
    [["--user", "x"], "--host"],
    [["--from", "nobody"], "--from"],
    [["--from", "A\nB <a@b.example>"], "--from"],
    [["--from", "jürgen@b.example"], "--from"],
    [["--outbox", "--host", "x"], "--outbox"],
    [["--show", "--host", "x"], "--show"],
    [["--no-user", "--password-stdin", "--host", "h"], "--no-user"],
    [["--host", "h.example", "--from", from, "--user", "x", "--password-stdin"], "standard input"],
  ])("rejects %j", async (args, expected) => {
    const home = homes.open();
    const { exitCode, stderr } = await home.run(["mail", "configure", ...args], { input: "" });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(expected)]);
    expect(existsSync(fileOf(home))).toBe(false);
  });

  it("rejects a remote profile", async () => {
    const home = homes.open({ STARPOST_BASE_URL: "http://127.0.0.1:1", STARPOST_APP_KEY: "k", STARPOST_SECRET: "s" });
    const { exitCode, stderr } = await home.run(["mail", "configure", "--profile", "env"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("remote");
  });

  it("suggests a fix for an invalid configuration file, and applies it", async () => {
    const home = homes.open();
    writeFileSync(fileOf(home), "{");
    const { exitCode, stderr } = await home.run(["mail", "configure"]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("starpost mail configure --outbox")]);
    expect((await configure(home, "--outbox")).data.kind).toBe("outbox");
    expect((await configure(home)).data.configured_by).toBe("file");
  });
});

describe("emails of an import", () => {
  const orders = [
    "email,customer_name,order_id,order_date,currency_iso,product_id,product_name,product_url,product_image",
    `ana@customer.example,Ana Müller,1001,DAY,EUR,pot,Teapot “Morning”,https://shop.example/pot,https://shop.example/pot.png`,
    `ana@customer.example,Ana Müller,1002,DAY,EUR,cup,<b>Cup</b>,https://shop.example/cup,`,
  ].join("\n");
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

  it("reach a server that requires TLS and a password, with a self-signed certificate", async ({ skip }) => {
    const own = (await createCertificate()) ?? skip("openssl is not installed");
    const server = await start({ tls: "starttls", key: own.key, cert: own.cert, user });
    const home = homes.open();
    const args = [
      "--host",
      server.host,
      "--port",
      String(server.port),
      "--user",
      "shop",
      "--password-stdin",
      "--from",
      from,
    ];
    await home.run(["mail", "configure", ...args], { input: password });
    const untrusted = await configure(home, "--check");
    expect(untrusted.data.problem).toContain("NODE_EXTRA_CA_CERTS");
    const env = { NODE_EXTRA_CA_CERTS: own.certFile, STARPOST_PUBLIC_URL: "https://reviews.example" };
    writeFileSync(join(home.folder, "orders.csv"), orders.replaceAll("DAY", daysAgo(20)));
    const imported = await home.run(["orders", "import", join(home.folder, "orders.csv"), "--send-mail", "--yes"], {
      env,
    });
    expect(imported.exitCode, imported.stderr).toBe(0);
    const ran = await home.json<{ mails: Record<string, number> }>(["mail", "run", "--once"], { env });
    expect(ran.data.mails, ran.stderr).toMatchObject({ sent: 2 });
    expectBoth(server);
  });
});

/** The emails of both orders, as the server received them. */
function expectBoth(server: MailServer): void {
  expect(server.received.map(({ isEncrypted, user: name, to }) => ({ isEncrypted, name, to }))).toEqual(
    Array.from({ length: 2 }, () => ({ isEncrypted: true, name: "shop", to: "ana@customer.example" })),
  );
  const [pot, cup] = server.received.map(({ parsed }) => parsed);
  expect(pot?.subject).toBe("How do you like Teapot “Morning”?");
  expect(pot?.from).toMatchObject({ name: "Tea & Cups", address: "reviews@shop.example" });
  expect(pot?.to).toMatchObject([{ name: "Ana Müller" }]);
  expect(pot?.html).toContain('<a href="https://shop.example/pot">Teapot “Morning”</a>');
  expect(cup?.html).toContain("&lt;b&gt;Cup&lt;/b&gt;");
  expect(cup?.text).toMatch(/5 ★ https:\/\/reviews\.example\/starpost\/v1\/r\/\S+/);
  expect(cup?.text).toMatch(/order 1002 .*Tea & Cups/);
  const headers = new Map(pot?.headers.map(({ key, value }) => [key, value]));
  expect(headers.get("list-unsubscribe")).toMatch(/^<https:\/\/reviews\.example\/starpost\/v1\/l\/\S+>$/);
  expect(headers.get("list-unsubscribe-post")).toBe("List-Unsubscribe=One-Click");
}
