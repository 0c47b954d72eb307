import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import PostalMime from "postal-mime";
import { afterAll, expect, onTestFinished, test } from "vitest";
import type { Diagnosis } from "../../src/doctor/doctor.ts";
import { type DnsServer, startDnsServer } from "../support/dns-server.ts";
import { startMailServer } from "../support/mail-server.ts";
import { type Home, Homes } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

interface Key {
  readonly domain: string;
  readonly selector: string;
  readonly name: string;
  readonly value: string;
  readonly zone_line: string;
}

const from = "Tea & Cups <reviews@shop.example>";
const publicUrl = { STARPOST_PUBLIC_URL: "https://reviews.example" };

/** A home with an account and a sender, and a DNS server that it uses. */
async function openHome(): Promise<{ home: Home; dns: DnsServer; appKey: string }> {
  const dns = await startDnsServer();
  onTestFinished(() => dns.close());
  const home = homes.open({ ...publicUrl, STARPOST_DNS_SERVER: dns.address });
  const { app_key: appKey } = await home.init();
  expect((await home.run(["mail", "configure", "--from", from])).exitCode).toBe(0);
  return { home, dns, appKey };
}

const createKey = async (home: Home, ...args: string[]) =>
  (await home.json<Key>(["mail", "dkim", "create", ...args])).data;
const check = (home: Home) => home.json<Key & { state: string; problem: string | null }>(["mail", "dkim", "check"]);
const publish = ({ records }: DnsServer, { name, value }: Key) => records.set(name, [value.match(/.{1,255}/g) ?? []]);
const diagnose = async (home: Home) =>
  (await home.json<Diagnosis>(["doctor"])).data.checks.find(({ name }) => name === "dkim")?.status;

/** Verifies a signature with python3-dkim. Source: https://launchpad.net/dkimpy. */
const verifier = `
import sys, dkim
name, value = sys.argv[1].encode(), sys.argv[2].encode()
signed = dkim.DKIM(sys.stdin.buffer.read())
valid = signed.verify(dnsfunc=lambda asked, timeout=5: value if asked.rstrip(b".") == name else None)
print(valid, b":".join(signed.signed_headers and [n for n, _ in signed.signed_headers]).decode().lower())
`;
const python = "/usr/bin/python3";
const run = promisify(execFile);
const hasVerifier = await run(python, ["-c", "import dkim"]).then(
  () => true,
  () => false,
);

async function verify(raw: string | Buffer, { name, value }: Key) {
  const running = run(python, ["-c", verifier, name, value]);
  running.child.stdin?.end(raw);
  const [valid, names = ""] = (await running).stdout.trim().split(" ");
  return { isValid: valid === "True", headers: names.split(":").toSorted() };
}

const signed =
  "auto-submitted content-type date from list-id list-unsubscribe list-unsubscribe-post " +
  "message-id mime-version reply-to subject to";

/** Emails as the service of the recipient gets them: from the mail server, and from the outbox folder. */
async function sendTests(home: Home): Promise<readonly string[]> {
  const server = await startMailServer();
  onTestFinished(() => server.close());
  const flags = ["--host", server.host, "--port", String(server.port), "--tls", "none", "--no-user"];
  await home.run(["mail", "test", "--to", "jürgen@mail.example"]);
  expect((await home.run(["mail", "run", "--once"])).exitCode).toBe(0);
  expect((await home.run(["mail", "configure", ...flags])).exitCode).toBe(0);
  await home.run(["mail", "test", "--to", "ann@mail.example"]);
  expect((await home.run(["mail", "run", "--once"])).exitCode).toBe(0);
  expect((await home.run(["mail", "configure", "--outbox"])).exitCode).toBe(0);
  const [file = ""] = readdirSync(join(home.folder, "outbox"));
  return [readFileSync(join(home.folder, "outbox", file), "utf8"), ...server.received.map(({ raw }) => raw)];
}

const verified =
  "emails have a signature that python3-dkim (skipped if not installed) verifies, with both unsubscribe headers";

test.skipIf(!hasVerifier)(verified, async () => {
  const { home } = await openHome();
  const key = await createKey(home);
  const emails = await sendTests(home);
  expect(emails).toHaveLength(2);
  for (const raw of emails) {
    expect(await verify(raw, key)).toEqual({ isValid: true, headers: signed.split(" ") });
    const forged = raw.replace("List-Unsubscribe=One-Click", "List-Unsubscribe=Never");
    expect((await verify(forged, key)).isValid).toBe(false);
  }
});

test("emails have the headers of a list, and no signature of another domain", async () => {
  const { home, dns, appKey } = await openHome();
  const key = await createKey(home);
  publish(dns, key);
  await home.run(["mail", "configure", "--from", "reviews@tea.example"]);
  const emails = await sendTests(home);
  const parsed = await Promise.all(emails.map((raw) => PostalMime.parse(raw)));
  for (const { headers, replyTo } of parsed) {
    const found = new Map(headers.map(({ key: name, value }) => [name, value]));
    expect(found.get("list-id")).toBe(`<map.${appKey}.tea.example>`);
    expect(replyTo).toMatchObject([{ address: "reviews@tea.example" }]);
    expect(found.has("dkim-signature")).toBe(false);
  }
  expect(await check(home)).toMatchObject({ exitCode: 1, data: { state: "unused" } });
  expect(await diagnose(home)).toBe("warning");
});

test("a key is compared with DNS", async () => {
  const { home, dns } = await openHome();
  expect((await check(home)).exitCode).toBe(1);
  expect(await diagnose(home)).toBe("skipped");
  const key = await createKey(home);
  expect(key).toMatchObject({ domain: "shop.example", selector: "starpost", name: "starpost._domainkey.shop.example" });
  const strings = [...key.zone_line.matchAll(/"([^"]*)"/g)].map(([, text = ""]) => text);
  expect(strings.map(({ length }) => length <= 255)).toEqual([true, true]);
  expect(strings.join("")).toBe(key.value);

  expect(await check(home)).toMatchObject({ exitCode: 1, data: { ...key, state: "missing" } });
  expect(await diagnose(home)).toBe("warning");
  dns.records.set(key.name, [[key.value.slice(0, 200)], [key.value.slice(200)]]);
  expect(await check(home)).toMatchObject({ exitCode: 1, data: { state: "different" } });
  dns.records.set(key.name, [["v=DKIM1; k=rsa; p="]]);
  expect(await check(home)).toMatchObject({ exitCode: 1, data: { state: "different" } });
  expect(await diagnose(home)).toBe("warning");
  publish(dns, key);
  expect(await check(home)).toMatchObject({ exitCode: 0, data: { state: "published", problem: null } });
  expect(await diagnose(home)).toBe("ok");
  const text = key.value.replaceAll("; ", " ;").replace("v=DKIM1 ;", "");
  dns.records.set(key.name, [[text.slice(0, 200), text.slice(200)]]);
  expect(await check(home)).toMatchObject({ exitCode: 0, data: { state: "published" } });
  dns.records.set(key.name, "failed");
  expect(await check(home)).toMatchObject({ exitCode: 5, data: { state: "unreachable" } });
});

test("another key has another selector, and replaces the first only if that is confirmed", async () => {
  const { home } = await openHome();
  const first = await createKey(home);
  expect((await home.run(["mail", "dkim", "create"])).exitCode).toBe(2);
  expect((await home.run(["mail", "dkim", "create", "--yes", "--dry-run"])).exitCode).toBe(0);
  expect((await check(home)).data.value).toBe(first.value);
  const second = await createKey(home, "--yes");
  expect([second.selector, second.value === first.value]).toEqual(["starpost2", false]);
  expect(await createKey(home, "--yes", "--selector", "tea")).toMatchObject({ name: "tea._domainkey.shop.example" });
  expect((await home.run(["mail", "dkim", "create", "--yes", "--selector", "a_b"])).exitCode).toBe(2);
});

test("a key needs a sender and a sealing key", async () => {
  const home = homes.open();
  expect((await home.run(["mail", "dkim", "create"])).exitCode).toBe(2);
  await home.run(["mail", "configure", "--from", from]);
  expect((await home.run(["mail", "dkim", "create"])).exitCode).toBe(1);
  expect(existsSync(join(home.folder, "dkim.json"))).toBe(false);
});

test("the private key is sealed, also again when the sealing key is rotated", async () => {
  const { home } = await openHome();
  await createKey(home);
  const path = join(home.folder, "dkim.json");
  const readSealed = () => (JSON.parse(readFileSync(path, "utf8")) as Record<string, string>)["privateKeySealed"];
  const before = readSealed();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(before).toMatch(/^v1\./);
  expect((await home.json(["sealing-key", "rotate"])).data).toEqual({ is_new_key: true, resealed: 2, unreadable: 0 });
  expect(readSealed()).not.toBe(before);
  expect((await home.json(["sealing-key", "retire", "--yes"])).data).toEqual({ retired: 1 });
  const [raw = ""] = await sendTests(home);
  expect(raw).toMatch(/^DKIM-Signature: /m);
});

test("emails stay queued if the key cannot be decrypted", async () => {
  const { home } = await openHome();
  await createKey(home);
  const path = join(home.folder, "dkim.json");
  writeFileSync(path, readFileSync(path, "utf8").replace(/v1\.\w+/, "v1.00000000"));
  await home.run(["mail", "test", "--to", "ann@mail.example"]);
  const ran = await home.run(["mail", "run", "--once"]);
  expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining("dkim.json")]);
  expect((await home.json<{ state: string }[]>(["mail", "list"])).data).toMatchObject([{ state: "queued" }]);
  expect((await home.json(["sealing-key", "rotate"])).data).toMatchObject({ resealed: 1, unreadable: 1 });
});
