import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { Homes } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

const user = { email: "zoe@shop.example", display_name: "Zoe", password: "p", url: "https://shop.example" };

async function signUp(url: string, fields: object = {}): Promise<readonly [status: number, errorType?: string]> {
  const response = await fetch(`${url.replace("0.0.0.0", "127.0.0.1")}/users`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ user: { ...user, ...fields } }),
  });
  const { status } = (await response.json()) as { status: { error_type?: string } };
  return status.error_type === undefined ? [response.status] : [response.status, status.error_type];
}

const closed = [401, "Exceptions::FeatureDisabled"];

interface SignUpCase {
  readonly args: string[];
  readonly env: Record<string, string>;
  readonly answer: (number | string)[];
}

describe("sign-up", () => {
  test.each<SignUpCase & { readonly title: string }>([
    { title: "is open on loopback", args: [], env: {}, answer: [200] },
    { title: "is closed on other addresses", args: ["--host", "0.0.0.0"], env: {}, answer: closed },
    { title: "is closed with a public URL", args: ["--public-url", "https://r.example"], env: {}, answer: closed },
    {
      title: "is closed with a public URL in the environment",
      args: [],
      env: { STARPOST_PUBLIC_URL: "https://r.example" },
      answer: closed,
    },
    { title: "is open with --allow-signup", args: ["--host", "0.0.0.0", "--allow-signup"], env: {}, answer: [200] },
  ])("$title", async ({ args, env, answer }) => {
    const home = homes.open(env);
    const { url, stop } = await home.serve(["--no-worker", ...args]);
    expect(await signUp(url)).toEqual(answer);
    expect((await home.json<unknown[]>(["account", "list"])).data).toHaveLength(answer === closed ? 1 : 2);
    await stop();
  });

  test("accepts an invitation once", async () => {
    const home = homes.open();
    const { url, stop, process } = await home.serve(["--no-worker", "--host", "0.0.0.0"]);
    const { data } = await home.json<{ invitation_code: string }>(["account", "invite"]);
    const { invitation_code } = data;
    const list = async () => (await home.json<unknown[]>(["account", "invitations"])).data;
    expect(await list()).toEqual([{ created_at: expect.any(String), expires_at: expect.any(String) }]);
    expect(await signUp(url, { invitation_code })).toEqual([200]);
    expect(await list()).toEqual([]);
    expect(await signUp(url, { invitation_code })).toEqual(closed);
    await stop();
    // Links in emails would work on this machine only.
    expect(String((await process).stderr)).toContain("--public-url");
  });
});

describe("a running server", () => {
  test("applies changes of accounts at once", async () => {
    const home = homes.open();
    const { url, app_key, secret, stop } = await home.serve(["--no-worker"]);
    const read = async () => (await fetch(`${url}/products/${app_key}/teapot/bottomline`)).status;
    const grant = { client_id: app_key, client_secret: secret, grant_type: "client_credentials" };
    const requestToken = async () =>
      (await fetch(`${url}/oauth/token?${new URLSearchParams(grant).toString()}`, { method: "POST" })).status;
    expect([await read(), await requestToken()]).toEqual([200, 200]);
    await home.run(["account", "disable", app_key]);
    expect([await read(), await requestToken()]).toEqual([401, 401]);
    await home.run(["account", "enable", app_key]);
    expect([await read(), await requestToken()]).toEqual([200, 200]);
    await home.run(["account", "rotate-secret", app_key, "--yes"]);
    expect([await read(), await requestToken()]).toEqual([200, 401]);
    await stop();
  });
});

describe("an import with --account", () => {
  test("belongs to that account", async () => {
    const home = homes.open();
    const { app_key } = (await home.json<{ app_key: string }>(["account", "create"])).data;
    const own = ["--account", app_key];
    const file = join(home.folder, "coupons.csv");
    writeFileSync(file, "code\nAAAA\n");
    const { data, exitCode } = await home.json(["coupons", "import", file, "--action", "map_review", ...own]);
    expect([exitCode, data.items.accepted]).toEqual([0, 1]);
    expect((await home.json<unknown[]>(["coupons", "list", ...own])).data).toHaveLength(1);
    expect((await home.json<unknown[]>(["coupons", "list"])).data).toEqual([]);
    expect((await home.run(["imports", "verify", data.import_id, ...own])).exitCode).toBe(0);
    expect((await home.run(["imports", "verify", data.import_id])).exitCode).toBe(2);
  });
});

describe("doctor with --account", () => {
  test("checks that account", async () => {
    const home = homes.open();
    const { app_key } = (await home.json<{ app_key: string }>(["account", "create"])).data;
    const readCredentials = async (account: string) => {
      const { data } = await home.json<{ checks: { name: string; status: string; message: string }[] }>([
        "doctor",
        "--account",
        account,
      ]);
      return data.checks.find(({ name }) => name === "credentials");
    };
    expect(await readCredentials(app_key)).toMatchObject({ status: "ok", message: expect.stringContaining(app_key) });
    expect(await readCredentials("nobody")).toMatchObject({ status: "problem" });
  });
});
