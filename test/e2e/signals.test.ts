import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Home, Homes, type Summary } from "../support/starpost.ts";

/** From the signal to the end of the process. */
const limitMs = 2_000;

const homes = new Homes();
/** Issues tokens and never answers any other call. */
let hanging: Server;
let env: Record<string, string>;
let callCount = 0;

beforeAll(async () => {
  hanging = createServer((request, response) => {
    if (request.url?.startsWith("/oauth/token")) {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ access_token: "t".repeat(40), token_type: "bearer" }));
    } else callCount += 1;
  });
  await new Promise<void>((listening) => hanging.listen(0, "127.0.0.1", listening));
  const { port } = hanging.address() as AddressInfo;
  env = { STARPOST_BASE_URL: `http://127.0.0.1:${port}`, STARPOST_APP_KEY: "k", STARPOST_SECRET: "s" };
});
afterAll(() => {
  hanging.closeAllConnections();
  hanging.close();
  homes.remove();
});

type Signal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** Starts a command, waits until a call is in flight, and sends the signals 150 ms apart. */
async function interrupt(home: Home, args: readonly string[], signals: readonly Signal[]) {
  const before = callCount;
  const run = home.start(args, { env });
  await expect.poll(() => callCount, { timeout: 20_000 }).toBeGreaterThan(before);
  const sentMs = Date.now();
  for (const signal of signals) {
    run.kill(signal);
    await sleep(150);
  }
  const { exitCode, signal, stderr } = await run;
  return { exitCode, signal, stderr: String(stderr), tookMs: Date.now() - sentMs };
}

function openHome(): { readonly home: Home; readonly products: string } {
  const home = homes.open();
  const products = join(home.folder, "p.csv");
  writeFileSync(products, "product_id,name,url\n1,Tea,https://shop.example/1\n");
  return { home, products };
}

async function newestRun(home: Home): Promise<Summary | undefined> {
  return (await home.json<Summary[]>(["imports", "list"])).data[0];
}

describe("while the service does not answer", () => {
  test.each([[["SIGTERM"]], [["SIGHUP"]], [["SIGINT", "SIGINT"]], [["SIGTERM", "SIGTERM", "SIGTERM"]]] as const)(
    "%s ends an import in time and reports how to resume",
    async (signals) => {
      const { home, products } = openHome();
      const ended = await interrupt(home, ["products", "import", products], signals);
      expect(ended).toMatchObject({ exitCode: 130 });
      expect(ended.tookMs).toBeLessThan(limitMs);
      const run = await newestRun(home);
      expect(run?.state).toBe("interrupted");
      expect(ended.stderr).toContain(`imports resume ${run?.import_id}`);
    },
  );

  test.each([
    ["products export", ["products", "export"]],
    ["products plan", ["products", "plan"]],
    ["unsubscribers sync", ["unsubscribers", "sync", "--type", "1"]],
    ["products list", ["products", "list"]],
    ["webhooks listen", ["webhooks", "listen"]],
    ["reviews hide", ["reviews", "hide", "1"]],
  ])("SIGTERM and SIGHUP end %s in time", async (_, words) => {
    for (const signal of ["SIGTERM", "SIGHUP"] as const) {
      const { home, products } = openHome();
      if (words.includes("sync")) writeFileSync(products, "email\na@mail.example\n");
      const file = words.includes("plan") || words.includes("sync") ? [products] : [];
      const ended = await interrupt(home, [...words, ...file], [signal]);
      expect(ended.tookMs).toBeLessThan(limitMs);
      // Killed by the signal, or ended by itself.
      expect([signal, undefined]).toContain(ended.signal);
    }
  });
});

describe("the embedded engine", () => {
  test.each(["SIGTERM", "SIGHUP"] as const)("%s lets a server and a worker finish with 0", async (signal) => {
    const { home } = openHome();
    const server = await home.serve();
    // SIGHUP makes a server read its settings again.
    server.process.kill(signal);
    if (signal === "SIGHUP") await server.stop();
    expect((await server.process).exitCode).toBe(0);
    const worker = home.start(["mail", "run", "--json"]);
    await new Promise((found) => worker.stdout?.once("data", found));
    const sentMs = Date.now();
    worker.kill(signal);
    expect((await worker).exitCode).toBe(0);
    expect(Date.now() - sentMs).toBeLessThan(limitMs);
  });

  test("SIGHUP lets a server continue in a new log file, after the old one was renamed", async () => {
    const { home } = openHome();
    const file = join(home.folder, "serve.log");
    const server = await home.serve(["--log-file", file]);
    const call = () => fetch(`${server.url}/reviews/1`);
    const countCalls = (path: string) => readFileSync(path, "utf8").split('"msg":"call"').length - 1;
    await call();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    renameSync(file, `${file}.1`);
    await call();
    await expect.poll(() => countCalls(`${file}.1`)).toBe(2);
    server.process.kill("SIGHUP");
    await expect.poll(() => existsSync(file)).toBe(true);
    await call();
    // Calls are logged after their response.
    await expect.poll(() => [countCalls(`${file}.1`), countCalls(file)]).toEqual([2, 1]);
    await server.stop();
    const refused = await home.runProcess([
      "serve",
      "--port",
      "0",
      "--log-file",
      join(home.folder, "none", "serve.log"),
    ]);
    expect(refused.exitCode).toBe(1);
  });

  test.each(["SIGTERM", "SIGHUP"] as const)("%s ends an editor, and keeps the edited text", async (signal) => {
    const { home } = openHome();
    await home.init();
    const started = join(home.folder, "started");
    const run = home.start(["mail", "templates", "edit", "map"], {
      env: { EDITOR: `touch ${started}; exec sleep 30 #` },
    });
    await expect.poll(() => existsSync(started), { timeout: 20_000 }).toBe(true);
    const sentMs = Date.now();
    run.kill(signal);
    const { exitCode, stderr } = await run;
    expect([exitCode, stderr]).toEqual([130, expect.stringMatching(/map\.liquid/)]);
    expect(Date.now() - sentMs).toBeLessThan(limitMs);
  });

  test("ends in time while nobody reads its output", async () => {
    const { home, products } = openHome();
    const rows = Array.from({ length: 3_000 }, (_, at) => `p${at},${"x".repeat(100)},https://shop.example/${at}\n`);
    writeFileSync(products, `product_id,name,url\n${rows.join("")}`);
    expect((await home.run(["products", "import", products])).exitCode).toBe(0);
    const run = home.start(["products", "export"], { buffer: false });
    // Fills the buffers of the stream and of the pipe, which are smaller than the output.
    await new Promise((found) => run.stdout?.once("readable", found));
    await sleep(500);
    expect(run.exitCode).toBeNull();
    const sentMs = Date.now();
    run.kill("SIGTERM");
    await new Promise((ended) => run.once("exit", ended));
    expect(Date.now() - sentMs).toBeLessThan(limitMs);
    expect(run.exitCode).toBe(130);
  });
});
