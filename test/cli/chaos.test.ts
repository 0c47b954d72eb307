import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { Home } from "../support/starpost.ts";
import { run } from "./support.ts";

async function serve(spec: string) {
  const home = new Home();
  const server = await home.serve(["--chaos", spec]);
  onTestFinished(() => {
    server.process.kill("SIGKILL");
    home.remove();
  });
  const ask = (path: string, init?: RequestInit) =>
    fetch(server.url + path, init).then(
      async (response) => ({ status: response.status, headers: response.headers, body: await response.text() }),
      (error: unknown) => ({ status: 0, headers: new Headers(), body: String((error as Error).cause) }),
    );
  const askToken = () =>
    ask("/oauth/token", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        client_id: server.app_key,
        client_secret: server.secret,
        grant_type: "client_credentials",
      }),
    });
  const end = async () => {
    expect(await server.stop()).toBe(0);
    const { stdout, stderr } = await server.process;
    const last = String(stdout).trim().split("\n").at(-1) ?? "";
    return { counts: JSON.parse(last) as Record<string, unknown>, stderr: String(stderr) };
  };
  return { ...server, ask, askToken, end };
}

const none = { "429": 0, "413": 0, "500": 0, reset: 0, timeout: 0, drop: 0 };

describe("serve --chaos", () => {
  test("rejects an unknown fault", async () => {
    const { status, stderr } = await run(["serve", "--chaos", "503=5%"], { env: { STARPOST_HOME: "/nowhere" } });
    expect(status).toBe(2);
    expect(stderr).toContain('"503=5%" for --chaos');
    expect(stderr).toMatch(/drop=<n%>/);
  });

  test("answers 429 in the core API's format with Retry-After", async () => {
    const { ask, askToken, end } = await serve("429=100%");
    const { status, headers, body } = await askToken();
    expect([status, JSON.parse(body)]).toEqual([429, { errors: [{ message: "Too Many Requests" }] }]);
    expect(headers.get("retry-after")).toBe("1");
    expect(headers.get("ratelimit-remaining")).toBe("0");
    expect(Number(headers.get("ratelimit-reset"))).toBeGreaterThan(0);
    expect((await ask("/healthz")).status).toBe(200);
    const { counts, stderr } = await end();
    expect(counts).toEqual({
      event: "chaos",
      calls: 1,
      spared: 0,
      faults: { ...none, "429": 1 },
      operations: { "tokens.create": 1 },
    });
    expect(stderr).toMatch(/--chaos\): 429 100 %, seed 1\./);
    expect(stderr).toMatch(/Chaos: 1 call, 0 .*; 429 1/);
    expect(stderr).toMatch(/"operation":"tokens.create","fault":"429"/);
  });

  test.each([
    ["500=100%", 500, /internal error/],
    ["413=100%", 413, /larger/],
    ["reset=100%", 0, /ECONNRESET|other side closed|reset/i],
    ["drop=100%", 0, /other side closed|hang up|reset/i],
    ["max-body=10", 413, /larger/],
  ])("injects %s", async (spec, status, pattern) => {
    const { askToken, end } = await serve(spec);
    const asked = await askToken();
    expect(asked.status).toBe(status);
    expect(asked.body).toMatch(pattern);
    await end();
  });

  test("stops without waiting for a call that is never answered", async () => {
    const { askToken, end } = await serve("timeout=100%");
    let isAnswered = false;
    const asked = askToken().finally(() => (isAnswered = true));
    await sleep(500);
    expect(isAnswered).toBe(false);
    // The server aborts requests in flight after ten seconds.
    const startedMs = Date.now();
    const { counts } = await end();
    expect(Date.now() - startedMs).toBeLessThan(9_000);
    expect((await asked).status).toBe(0);
    expect(counts["faults"]).toEqual({ ...none, timeout: 1 });
  });

  test("limits faults to the given operations, and repeats the same faults for the same seed", async () => {
    const askMany = async (spec: string) => {
      const { askToken, end } = await serve(spec);
      const statuses: number[] = [];
      for (let at = 0; at < 40; at++) statuses.push((await askToken()).status);
      return { statuses, counts: (await end()).counts };
    };
    const [one, other, elsewhere] = [
      await askMany("500=30%,drop=20%,seed=3"),
      await askMany("500=30%,drop=20%,seed=3"),
      await askMany("500=100%,only=orders.massCreate"),
    ];
    expect(one.statuses).toEqual(other.statuses);
    expect(new Set(one.statuses)).toEqual(new Set([200, 500, 0]));
    expect(one.counts).toEqual(other.counts);
    expect(new Set(elsewhere.statuses)).toEqual(new Set([200]));
    expect(elsewhere.counts["calls"]).toBe(0);
  });
});
