import { createServer, request as forward } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Diagnosis } from "../../src/doctor/doctor.ts";
import { type Home, Homes, noticesOf, writeInto } from "../support/starpost.ts";

interface Created {
  readonly credential: { readonly id: number; readonly app_key: string; readonly secret: string };
}

interface Failed {
  readonly error: { readonly kind: string; readonly hint: string };
}

const homes = new Homes();
const owner = homes.open();
let server: Awaited<ReturnType<Home["serve"]>>;

beforeAll(async () => {
  await owner.init();
  const { exitCode } = await owner.run(["orders", "import", "fixtures/good/orders.csv", "--send-mail"]);
  expect(exitCode).toBe(0);
  server = await owner.serve();
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
  homes.remove();
});

/** Signs in with a secret in a new home. */
async function logIn(secret: string) {
  const home = homes.open();
  const target = ["--base-url", server.url, "--app-key", server.app_key, "--profile", "shop"];
  const { exitCode } = await home.run(["auth", "login", ...target, "--secret-stdin"], { input: secret });
  return { home, exitCode };
}

async function create(home: Home, role: string) {
  const { exitCode, data, stderr } = await home.json<Created>(["account", "create-credential", "--role", role]);
  expect([exitCode, stderr.includes(data.credential.secret)]).toEqual([0, false]);
  return data.credential;
}

describe("a credential with a role", () => {
  test("lets support staff do their work, and nothing else", async () => {
    const { home } = await logIn((await create(owner, "support")).secret);
    for (const words of [
      ["mail", "list"],
      ["mail", "show", "1"],
      ["customers", "export", "ada@example.com", "--out", "ada.json"],
      ["unsubscribers", "add", "ada@example.com"],
      ["mail", "why", "--email", "ada@example.com"],
      ["reviews", "list"],
    ]) {
      const { exitCode, stderr } = await home.run(words, { cwd: home.folder });
      expect([words, exitCode, stderr]).toEqual([words, 0, expect.not.stringContaining("role")]);
    }
    for (const words of [
      ["customers", "erase", "ada@example.com", "--yes"],
      ["account", "set", "--name", "Tea", "--yes"],
      ["mail", "rules", "set", "due_after_days", "7", "--yes"],
      ["webhooks", "create", "https://shop.example/hook"],
      ["mail", "provider-events"],
      ["orders", "import", "fixtures/good/orders.csv"],
      ["account", "create-credential", "--role", "support"],
      ["account", "credentials"],
    ]) {
      const { exitCode, stderr } = await home.json(words);
      expect([words, exitCode]).toEqual([words, 4]);
      expect([words, stderr]).toEqual([words, expect.stringContaining("support")]);
    }
    const { stderr } = await home.json(["account", "set", "--name", "Tea", "--yes"]);
    expect(JSON.parse(stderr)).toMatchObject({ error: { kind: "roleDenied" } } satisfies {
      error: Partial<Failed["error"]>;
    });
  });

  test("does not request another token for a refused call", async () => {
    const { home } = await logIn((await create(owner, "read-only")).secret);
    const token = async () => (await home.json<{ utoken: string }>(["auth", "token"])).data.utoken;
    const before = await token();
    expect((await home.run(["account", "set", "--name", "Tea", "--yes"])).exitCode).toBe(4);
    expect(await token()).toBe(before);
  });

  test("lets an importer import, plan, verify, and undo every kind", async () => {
    const { home } = await logIn((await create(owner, "importer")).secret);
    const columns = "product_id,review_title,review_content,review_score,display_name,email,date";
    const reviews = writeInto(
      home,
      "reviews.csv",
      `${columns}\nteapot,Good,It pours,5,Bo,bo@mail.example,2026-01-31\n`,
    );
    for (const [kind, ...flags] of [
      ["products"],
      ["orders"],
      ["reviews"],
      ["groups"],
      ["coupons", "--action", "map_share"],
      ["unsubscribers", "--type", "1"],
    ] as const) {
      const file = kind === "reviews" ? reviews : `fixtures/good/${kind}.csv`;
      const planned = await home.json([kind, "plan", file, ...flags]);
      expect([kind, planned.exitCode, planned.stderr]).toEqual([kind, 0, expect.not.stringContaining("role")]);
      const { exitCode, data } = await home.json([kind, "import", file, ...flags, "--rate", "0"]);
      expect([kind, exitCode, data.rows.rejected]).toEqual([kind, 0, 0]);
      const verified = await home.json(["imports", "verify", data.import_id, "--rate", "0"]);
      expect([kind, verified.exitCode, verified.stderr]).toEqual([kind, 0, expect.not.stringContaining("role")]);
      const undone = await home.json(["imports", "undo", data.import_id, "--yes", "--rate", "0"]);
      expect([kind, undone.stderr]).toEqual([kind, expect.not.stringContaining("the role")]);
      expect([kind, undone.exitCode]).not.toEqual([kind, 4]);
    }
  });

  test("replaces the cached token of another secret of the profile", async () => {
    const { home } = await logIn(server.secret);
    const role = async () => (await home.json<{ role: string }>(["auth", "status"])).data.role;
    expect(await role()).toBe("full");
    const { secret } = await create(owner, "support");
    const added = await home.run(["profile", "add", "shop", "--secret-stdin"], { input: secret });
    expect([added.exitCode, await role()]).toEqual([0, "support"]);
    const target = ["--base-url", server.url, "--app-key", server.app_key, "--profile", "shop"];
    await home.run(["auth", "login", ...target, "--secret-stdin"], { input: server.secret });
    expect(await role()).toBe("full");
  });

  test("is shown by auth status and doctor", async () => {
    const { home } = await logIn((await create(owner, "importer")).secret);
    expect((await home.json<object>(["auth", "status"])).data).toMatchObject({ signed_in: true, role: "importer" });
    expect((await owner.json<object>(["auth", "status"])).data).toMatchObject({ signed_in: true, role: "full" });
    const { data } = await home.json<Diagnosis>(["doctor"]);
    const found = data.checks.find(({ name }) => name === "credentials");
    expect(found).toMatchObject({ status: "ok", message: expect.stringMatching(/role importer$/) as string });
  });

  test.each([404, 401, 500])("is not shown if the service has no roles and answers %i", async (status) => {
    const proxy = createServer((request, response) => {
      const url = `http://127.0.0.1${request.url}`;
      if (new URL(url).pathname.endsWith("/credentials/current")) {
        response.writeHead(status, { "content-type": "application/json" }).end('{"error":"no"}');
        return;
      }
      const { hostname, port } = new URL(server.url);
      const { method, headers, url: path } = request;
      const forwarded = forward({ hostname, port, method, headers, path }, (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      });
      request.pipe(forwarded);
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void proxy.close());
    const { port } = proxy.address() as AddressInfo;
    const account = { STARPOST_APP_KEY: server.app_key, STARPOST_SECRET: server.secret };
    const home = homes.open({ STARPOST_BASE_URL: `http://127.0.0.1:${port}`, ...account });
    const shown = await home.json<object>(["auth", "status"]);
    expect([shown.exitCode, shown.data]).toMatchObject([0, { signed_in: true }]);
    expect(shown.data).not.toHaveProperty("role");
    const { data } = await home.json<Diagnosis>(["doctor"]);
    const found = data.checks.find(({ name }) => name === "credentials");
    expect(found).toMatchObject({ status: "ok", message: expect.not.stringMatching(/role|access/) as string });
  });

  test("is created, listed, and revoked over HTTP", async () => {
    const { home: remote } = await logIn(server.secret);
    const { id, app_key, secret } = await create(remote, "support");
    expect(app_key).toBe(server.app_key);
    const { home: staff } = await logIn(secret);
    const list = async () =>
      (
        await remote.json<readonly { id: number; role: string; last_used_at: string | null }[]>([
          "account",
          "credentials",
        ])
      ).data;
    const listed = (await list()).find((one) => one.id === id);
    expect(listed).toMatchObject({ role: "support", last_used_at: expect.any(String) as string });
    expect((await remote.run(["account", "revoke-credential", String(id)])).exitCode).toBe(2);
    expect((await remote.run(["account", "revoke-credential", String(id), "--yes"])).exitCode).toBe(0);
    expect((await list()).map((one) => one.id)).not.toContain(id);
    expect((await staff.run(["orders", "list"])).exitCode).toBe(4);
    expect((await staff.json<object>(["auth", "status"])).data).toMatchObject({ signed_in: false });
    expect((await logIn(secret)).exitCode).toBe(4);
    expect((await remote.run(["account", "revoke-credential", String(id), "--yes"])).exitCode).toBe(1);
  });

  test("stays when the secret is rotated, which is reported", async () => {
    const other = homes.open();
    await other.init();
    const { app_key } = await create(other, "support");
    const rotated = await other.json(["account", "rotate-secret", app_key, "--yes"]);
    expect(rotated.exitCode).toBe(0);
    expect(noticesOf(rotated)).toContain("starpost account credentials");
    const { data } = await other.json<readonly unknown[]>(["account", "credentials"]);
    expect(data).toHaveLength(1);
  });
});
