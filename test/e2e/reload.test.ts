import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { Homes } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

interface LogLine {
  readonly level: string;
  readonly time: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

test("a server logs only JSON, with the account and the caller, and reloads its settings on SIGHUP", async () => {
  const home = homes.open();
  const server = await home.serve();
  let output = "";
  server.process.stderr?.on("data", (data: Buffer) => (output += data.toString()));
  const lines = () =>
    output
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as LogLine);
  const find = (msg: string) => lines().filter((line) => line.msg === msg);
  const reload = async (msg: string) => {
    const before = find(msg).length;
    server.process.kill("SIGHUP");
    await vi.waitFor(() => expect(find(msg).length).toBe(before + 1), { timeout: 30_000, interval: 50 });
    return find(msg).at(-1);
  };

  const { stdout: token } = await home.run(["auth", "token"]);
  await fetch(`${server.url}/apps/${server.app_key}/purchases?utoken=${token}`);
  await fetch(`${server.url}/apps/${server.app_key}/purchases?utoken=wrong-token-of-ann@mail.example`);
  await fetch(`${server.url}/products/${server.app_key}/teapot/bottomline`);
  await vi.waitFor(() => expect(find("call")).toHaveLength(3), { timeout: 30_000 });
  const [signed, refused, open] = find("call");
  expect(signed).toMatchObject({
    account: server.app_key,
    status: 200,
    caller: expect.stringMatching(/^token-[0-9a-f]{8}$/),
  });
  expect(refused).toMatchObject({ account: null, status: 401, caller: "public" });
  expect(open).toMatchObject({ account: server.app_key, status: 200, caller: "public", id: expect.any(String) });
  for (const secret of [token, "ann@mail.example", server.secret]) expect(output).not.toContain(secret);

  expect(await reload("configuration reloaded")).toMatchObject({ settings: ["mail", "webhooks"] });
  const settings = join(home.folder, "mail.json");
  const mail = { smtp: null, from: "Shop <shop@mail.example>" };
  writeFileSync(settings, JSON.stringify({ ...mail, smtp: { host: "not a host" } }));
  chmodSync(settings, 0o600);
  const kept = await reload("configuration not reloaded; the old one stays in use");
  expect(kept).toMatchObject({ level: "error", error: expect.stringContaining("mail.json") });
  writeFileSync(settings, JSON.stringify(mail));
  await reload("configuration reloaded");
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  expect(await server.stop()).toBe(0);
  expect(lines().every(({ level, time }) => level !== undefined && time !== undefined)).toBe(true);
  expect(readFileSync("docs/operations/starpost.service", "utf8")).toContain("ExecReload=/bin/kill -HUP $MAINPID\n");
});
