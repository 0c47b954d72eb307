import { describe, expect, test, it } from "vitest";
import { describeChaosPlan, parseChaosPlan } from "../../../src/config/chaos-plan.ts";
import { findPoolSettings, findPoolSize, findReader } from "../../../src/config/database-settings.ts";
import { UserError } from "../../../src/config/user-error.ts";
import { findLinkProblem } from "../../../src/config/public-url.ts";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setCurrentProfile } from "../../../src/config/profile-editor.ts";
import { makeFolder } from "../../cli/support.ts";
import { findProxy } from "../../../src/config/proxy-settings.ts";
import { withFileLock } from "../../../src/config/with-file-lock.ts";
import { FileLock } from "../../../src/storage/file-lock.ts";

describe("parseChaosPlan", () => {
  test("parses a comma-separated list", () => {
    const spec = "drop=5%, 429=10%,500=0.5%,reset=5%,timeout=1%,413=2%,delay=20,max-body=4096,seed=7";
    expect(parseChaosPlan(`${spec},only=orders.massCreate`, "--chaos")).toEqual({
      rates: { drop: 0.05, "429": 0.1, "500": 0.005, reset: 0.05, timeout: 0.01, "413": 0.02 },
      delayMs: 20,
      maxBodyBytes: 4_096,
      seed: 7,
      only: "orders.massCreate",
    });
    expect(parseChaosPlan("only=/apps", "--chaos")).toEqual({ rates: {}, delayMs: 0, seed: 1, only: "/apps" });
  });

  test.each([
    "",
    "drop",
    "drop=5",
    "drop=101%",
    "drop=-1%",
    "drops=5%",
    "503=5%",
    "seed=x",
    "delay=1.5",
    "only=orders.sell",
    "drop=5%,,429=1%",
    "__proto__=5",
  ])("rejects %j and lists what is accepted", (spec) => {
    expect(() => parseChaosPlan(spec, "--chaos")).toThrow(
      expect.objectContaining({
        kind: "usage",
        message: expect.stringMatching(/\B--chaos\b/) as string,
        hint: expect.stringContaining("429=<n%>, 413=<n%>, 500=<n%>, reset=<n%>, timeout=<n%>, drop=<n%>") as string,
      }) as Error,
    );
  });

  test("describeChaosPlan includes the seed", () => {
    const plan = parseChaosPlan("500=0.1%,429=10%,delay=5,only=/core", "--chaos");
    expect(describeChaosPlan(plan)).toBe("429 10 %, 500 0.1 %, delay 5 ms, seed 1, only /core");
  });
});

describe("STARPOST_DATABASE_POOL", () => {
  const read = (STARPOST_DATABASE_POOL: string | undefined) => findPoolSize({ STARPOST_DATABASE_POOL });

  it("is an integer from 2 to 1000", () => {
    expect([undefined, "", "2", "10", "1000"].map(read)).toEqual([undefined, undefined, 2, 10, 1_000]);
  });

  it.each(["1", "0", "1001", "-5", "2.5", "ten", "1e2", " 5"])("rejects %j", (text) => {
    const attempt = () => read(text);
    expect(attempt).toThrow(UserError);
    expect(attempt).toThrow("STARPOST_DATABASE_POOL");
  });
});

describe("STARPOST_DATABASE_POOL_WAIT", () => {
  const read = (STARPOST_DATABASE_POOL_WAIT: string | undefined) =>
    findPoolSettings({ STARPOST_DATABASE_POOL_WAIT }).poolWaitMs;

  it("is an integer of seconds from 0 to 300", () => {
    expect([undefined, "", "0", "5", "300"].map(read)).toEqual([undefined, undefined, 0, 5_000, 300_000]);
  });

  it.each(["301", "-1", "2.5", "5s"])("rejects %j", (text) => {
    expect(() => read(text)).toThrow("STARPOST_DATABASE_POOL_WAIT");
  });
});

describe("STARPOST_DATABASE_READER", () => {
  const read = (STARPOST_DATABASE_READER: string | undefined, database = "postgres://role@primary/shop") =>
    findReader({ STARPOST_DATABASE_READER }, database);

  it("is the address of a server, for a database on a server", () => {
    expect([read(undefined), read("")]).toEqual([undefined, undefined]);
    expect(read("postgres://role:77hidden@replica/shop")).toMatchObject({
      location: "postgres://role:77hidden@replica/shop",
      shownAs: "postgres://role@replica/shop",
    });
  });

  it.each([
    ["/srv/copy.db", undefined],
    ["postgres://role:77hidden@replica", undefined],
    ["postgres://role:77hidden@replica/shop", "/srv/starpost.db"],
  ])("rejects %s", (text, database) => {
    const attempt = () => read(text, database);
    expect(attempt).toThrow(UserError);
    expect(attempt).toThrow("STARPOST_DATABASE_READER");
    expect(attempt).not.toThrow("hidden");
  });
});

const remote = "smtp.shop.example";

test.each([
  undefined,
  "http://127.0.0.1:8080",
  "http://127.1.2.3",
  "http://localhost/reviews",
  "http://reviews.localhost",
  "http://[::1]:8080",
  "http://0.0.0.0:8080",
  "http://[::]:8080",
])("does not send emails with links to %s through a remote server", (publicUrl) => {
  expect(findLinkProblem(publicUrl, remote)).toMatchObject({
    kind: "usage",
    hint: expect.stringContaining("STARPOST_PUBLIC_URL") as string,
  });
});

test.each([
  ["https://reviews.shop.example", remote],
  ["http://10.0.0.5:8080", remote],
  [undefined, "127.0.0.1"],
  [undefined, "localhost"],
  [undefined, "::1"],
  ["http://localhost", "LOCALHOST."],
  [undefined, undefined],
])("sends emails with links to %s through %s", (publicUrl, host) => {
  expect(findLinkProblem(publicUrl, host)).toBeUndefined();
});

test("does not select a profile that does not exist", async () => {
  const folder = makeFolder();
  await expect(setCurrentProfile(folder, "gone")).rejects.toMatchObject({ kind: "usage" });
  expect(existsSync(join(folder, "profiles.json"))).toBe(false);
  await setCurrentProfile(folder, "local");
});

const service = "https://api.shop.example/v1";

describe("findProxy", () => {
  it.each<[Record<string, string>, string, string | undefined]>([
    [{}, service, undefined],
    [{ HTTPS_PROXY: "http://p:3128" }, service, "http://p:3128"],
    [{ HTTPS_PROXY: "http://p:3128" }, "http://api.shop.example", undefined],
    [{ HTTP_PROXY: "http://p:3128" }, service, undefined],
    [{ HTTP_PROXY: "http://p:3128" }, "http://api.shop.example", "http://p:3128"],
    [{ ALL_PROXY: "http://all:1" }, service, "http://all:1"],
    [{ all_proxy: "http://all:1", HTTPS_PROXY: "https://p" }, service, "https://p"],
    [{ HTTPS_PROXY: "http://capital:1", https_proxy: "http://small:1" }, service, "http://small:1"],
    [{ https_proxy: "", HTTPS_PROXY: "http://p:1" }, service, "http://p:1"],
    [{ HTTPS_PROXY: "p.example:3128" }, service, "http://p.example:3128"],
    [{ HTTPS_PROXY: "user:secret@p.example:3128" }, service, "http://p.example:3128"],
    [{ HTTPS_PROXY: "http://[::1]:3128/" }, service, "http://[::1]:3128"],
  ])("%o, %s: %s", (env, address, expected) => {
    expect(findProxy(env, address)?.address).toBe(expected);
  });

  it("decodes credentials and removes them from the address", () => {
    const found = findProxy({ HTTPS_PROXY: "http://m%40x:p%23%C3%BC%zz@p:1" }, service);
    expect(found).toEqual({
      address: "http://p:1",
      authorization: `Basic ${Buffer.from("m@x:p%23%C3%BC%zz").toString("base64")}`,
      variable: "HTTPS_PROXY",
    });
    expect(findProxy({ HTTPS_PROXY: "http://m:p%23%C3%BC@p:1" }, service)?.authorization).toBe(
      `Basic ${Buffer.from("m:p#ü").toString("base64")}`,
    );
  });

  it.each([
    "socks5://user:hidden@p:1080",
    "http://user:hid#den@p:3128",
    "http://user:hidden@:3128",
    "http://user:hidden@p:3128/pac",
  ])("rejects %s without showing it", (value) => {
    const find = () => findProxy({ HTTPS_PROXY: value }, service);
    expect(find).toThrow(/\bHTTPS_PROXY\b/);
    expect(find).not.toThrow(/hid/);
  });
});

describe("NO_PROXY", () => {
  it.each<[string, string, boolean]>([
    ["*", service, true],
    ["other.example, *", service, true],
    ["api.shop.example", service, true],
    ["API.Shop.Example.", service, true],
    ["shop.example", service, true],
    [".shop.example", service, true],
    ["*.shop.example", service, true],
    [".shop.example", "https://shop.example", true],
    ["shop.example", "https://webshop.example", false],
    ["pi.shop.example", service, false],
    ["example.com shop.example", service, true],
    ["shop.example:443", service, true],
    ["shop.example:8443", service, false],
    ["shop.example:8443", "https://shop.example:8443", true],
    ["10.1.2.3", "https://10.1.2.3", true],
    ["10.1.2.3", "https://10.1.2.30", false],
    ["2.3", "https://10.1.2.3", false],
    ["10.0.0.0/8", "https://10.1.2.3:8443", true],
    ["10.0.0.0/8", "https://11.1.2.3", false],
    ["10.0.0.0/8", service, false],
    ["10.0.0.0/40", "https://10.1.2.3", false],
    ["2001:db8::1", "https://[2001:db8::1]", true],
    ["[2001:db8::1]:8443", "https://[2001:db8::1]:8443", true],
    ["[2001:db8::1]:8443", "https://[2001:db8::1]", false],
    ["2001:db8::/32", "https://[2001:db8:1::1]", true],
    ["2001:db8::/32", "https://[2001:db9::1]", false],
    ["müller.example", "https://müller.example", true],
    ["", service, false],
  ])("%j matches %s: %s", (exceptions, address, isDirect) => {
    const env = { ALL_PROXY: "http://p:1", NO_PROXY: exceptions };
    expect(findProxy(env, address) === undefined).toBe(isDirect);
  });

  it("includes loopback addresses unless it contains <-loopback>", () => {
    const loopback = [
      "http://127.0.0.1:8080",
      "https://127.9.9.9",
      "http://localhost:8080",
      "http://shop.localhost",
      "http://[::1]:8080",
      "http://[::ffff:127.0.0.1]",
      "http://2130706433",
    ];
    for (const address of loopback) {
      expect(findProxy({ ALL_PROXY: "http://p:1" }, address), address).toBeUndefined();
      expect(findProxy({ ALL_PROXY: "http://p:1", no_proxy: "<-loopback>" }, address), address).toBeDefined();
    }
    expect(findProxy({ ALL_PROXY: "http://p:1" }, "http://localhost.example")).toBeDefined();
  });
});

/** A file that cannot be locked, as on a drive that does not support locks. */
function makeUnlockable(): string {
  const path = join(makeFolder(), "work.lock");
  writeFileSync(path, "not a file that can be locked ".repeat(40));
  return path;
}

test("runs without the lock if it is optional and cannot be taken", async () => {
  const guarded = withFileLock(makeUnlockable(), async () => "done", { waitMs: 0, isOptional: true });
  await expect(guarded).resolves.toBe("done");
});

test("fails if the lock cannot be taken", async () => {
  const guarded = withFileLock(makeUnlockable(), async () => "done", { waitMs: 0 });
  await expect(guarded).rejects.toMatchObject({
    kind: "failed",
    hint: expect.stringContaining("STARPOST_HOME") as string,
  });
});

test("waits for another process, then fails or runs without the lock", async () => {
  const path = join(makeFolder(), "work.lock");
  const held = new FileLock(path);
  held.take();
  await expect(withFileLock(path, async () => 1, { waitMs: 40 })).rejects.toMatchObject({ kind: "failed" });
  await expect(withFileLock(path, async () => 2, { waitMs: 40, isOptional: true })).resolves.toBe(2);
  held.close();
  await expect(withFileLock(path, async () => 3, { waitMs: 40 })).resolves.toBe(3);
});
