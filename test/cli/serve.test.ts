import { existsSync } from "node:fs";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { readDelay } from "../../src/cli/program/flag-values.ts";
import { findPublicUrl, parsePublicUrl } from "../../src/config/public-url.ts";
import { Home } from "../support/starpost.ts";
import { run } from "./support.ts";

beforeAll(() => {
  expect(existsSync("dist/main.js"), "the program is built: npm run build").toBe(true);
});

async function serve(args: readonly string[] = [], env: Record<string, string> = {}) {
  const home = new Home(env);
  const server = await home.serve(args);
  onTestFinished(() => {
    server.process.kill("SIGKILL");
    home.remove();
  });
  const { url, app_key } = server;
  const ask = async (path: string, body?: Record<string, unknown>) => {
    const response = await fetch(url.replace("0.0.0.0", "127.0.0.1").replace("[::]", "[::1]") + path, {
      ...(body && {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ appkey: app_key, ...body }),
      }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const pageUrl = async () => {
    const { body } = await ask(`/v1/seo_pages/url/${app_key}`);
    return (body["response"] as { seo_page_url: string }).seo_page_url;
  };
  return { ...server, ask, pageUrl };
}

describe("the public URL", () => {
  test.each([
    ["https://reviews.example", "https://reviews.example"],
    ["https://reviews.example/", "https://reviews.example"],
    ["http://Reviews.Example:8080/a/b//", "http://reviews.example:8080/a/b"],
    ["http://[::1]:80", "http://[::1]"],
  ])("is parsed from %s", (text, url) => {
    expect(parsePublicUrl(text, "--public-url")).toBe(url);
  });

  test.each(["", "reviews.example", "ftp://x", "//x", "http://", "http://x?a", "http://x#a", "http://u:p@x"])(
    "rejects %j",
    (text) => {
      expect(() => parsePublicUrl(text, "--public-url")).toThrow(/\B--public-url\b/);
    },
  );

  test("can be set in the environment; an empty variable is ignored", () => {
    expect(findPublicUrl({ STARPOST_PUBLIC_URL: "https://x.example/" })).toBe("https://x.example");
    expect(findPublicUrl({ STARPOST_PUBLIC_URL: "" })).toBeUndefined();
    expect(() => findPublicUrl({ STARPOST_PUBLIC_URL: "x" })).toThrow(/"x" for STARPOST_PUBLIC_URL\b/);
  });
});

describe("serve", () => {
  test.each([
    [["--public-url", "nowhere"], "--public-url"],
    [["--bottom-lines-delay", "-1"], "--bottom-lines-delay"],
    [["--bottom-lines-delay", "1.5"], "--bottom-lines-delay"],
    [["--bottom-lines-delay", "86401"], "--bottom-lines-delay"],
    [["--metrics-port", "65536"], "--metrics-port"],
    [["--metrics-port", "8080"], "--metrics-port 8080 is the port of the service"],
    [["--metrics-host", "127.0.0.1"], "--metrics-port"],
  ])("rejects %j", async (args, message) => {
    const ran = await run(["serve", ...args], { env: { STARPOST_HOME: "/nowhere" } });
    expect([ran.status, ran.stderr.includes(message)]).toEqual([2, true]);
  });

  test("readDelay returns milliseconds", () => {
    expect([readDelay("0", "--f"), readDelay("86400", "--f")]).toEqual([0, 86_400_000]);
  });

  test("serves metrics only on a listener of their own, without data of accounts", async () => {
    const home = new Home();
    onTestFinished(() => home.remove());
    const server = home.start(["serve", "--port", "0", "--metrics-port", "0", "--json"]);
    onTestFinished(() => void server.kill("SIGKILL"));
    const line = await new Promise<string>((found) => {
      server.stdout?.once("data", (data: Buffer) => found(data.toString()));
    });
    const listening = JSON.parse(line) as { url: string; metrics_url: string };
    expect(listening.metrics_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const call = await fetch(`${listening.url}/products/some-app-key/teapot/bottomline`);
    expect(call.status).toBe(404);
    const statuses = await Promise.all(
      ["url", "metrics_url"].map(async (name) => {
        const base = listening[name as keyof typeof listening];
        return [(await fetch(`${base}/readyz`)).status, (await fetch(`${base}/metrics`)).status];
      }),
    );
    expect(statuses).toEqual([
      [200, 404],
      [200, 200],
    ]);
    const text = await (await fetch(`${listening.metrics_url}/metrics`)).text();
    expect(text).toContain('starpost_http_requests_total{operation="reviews.bottomLine",status="404"} 1');
    expect(text).toContain("starpost_database_up 1");
    expect(text).not.toMatch(/some-app-key|teapot/);
    server.kill("SIGTERM");
    expect((await server).exitCode).toBe(0);
  });

  test("creates links to its own address", async () => {
    const local = await serve();
    expect(await local.pageUrl()).toBe(`${local.url}/starpost/v1/pages/${local.app_key}/products`);
    const everywhere = await serve(["--host", "0.0.0.0"]);
    const port = new URL(everywhere.url).port;
    expect(everywhere.url).toBe(`http://0.0.0.0:${port}`);
    expect(await everywhere.pageUrl()).toContain(`http://127.0.0.1:${port}/starpost/`);
  });

  test("creates links to the public URL, whose flag overrides the environment", async () => {
    const env = { STARPOST_PUBLIC_URL: "https://env.example/" };
    expect(await (await serve([], env)).pageUrl()).toMatch(/^https:\/\/env\.example\/starpost\//);
    const both = await serve(["--public-url", "https://flag.example/reviews"], env);
    expect(await both.pageUrl()).toMatch(/^https:\/\/flag\.example\/reviews\/starpost\//);
    const { body } = await both.ask("/openapi.json");
    expect(body["servers"]).toEqual([{ url: "https://flag.example/reviews" }]);
  });

  test("delays bottom lines by default, but not with --bottom-lines-delay 0", async () => {
    const review = {
      sku: "pot",
      product_title: "Pot",
      product_url: "https://shop.example/pot",
      display_name: "Ann",
      email: "ann@mail.example",
      review_content: "It pours.",
      review_title: "Pours",
      review_score: 5,
    };
    for (const [args, lines] of [
      [[], []],
      [["--bottom-lines-delay", "0"], [{ domain_key: "pot", product_score: 5, total_reviews: 1 }]],
    ] as const) {
      const { ask, app_key } = await serve(args);
      expect((await ask("/v1/widget/reviews", review)).status).toBe(200);
      const { body } = await ask(`/v1/apps/${app_key}/bottom_lines?count=10&page=1`);
      expect((body["response"] as { bottomlines?: unknown }).bottomlines).toEqual(lines);
    }
  });

  test("limits legacy calls only with --limit-legacy", async () => {
    for (const [args, isLimited] of [
      [[], false],
      [["--limit-legacy"], true],
    ] as const) {
      const { ask, app_key } = await serve(args);
      const statuses = await Promise.all(
        Array.from({ length: 30 }, async () => (await ask(`/v1/seo_pages/url/${app_key}`)).status),
      );
      expect([statuses.includes(429), statuses.includes(200)]).toEqual([isLimited, true]);
    }
  });

  test.each([
    ["off by default", [], { isLimited: false, warns: false }],
    ["on with --public-limits on", ["--public-limits", "on"], { isLimited: true, warns: false }],
    ["on with a public URL", ["--public-url", "https://x.example"], { isLimited: true, warns: true }],
    ["on if others can call", ["--host", "0.0.0.0", "--trust-proxy", "::1"], { isLimited: true, warns: false }],
  ] as const)("limits calls without a token: %s", async (_name, args, { isLimited, warns }) => {
    const { ask, app_key, stop, process: served } = await serve(args);
    const grant = { client_id: app_key, client_secret: "guess", grant_type: "client_credentials" };
    const asked = Array.from({ length: 25 }, async () => (await ask("/oauth/token", grant)).status);
    const statuses = await Promise.all(asked);
    const limited = statuses.filter((status) => status === 429);
    expect([statuses.filter((status) => status === 401).length, limited.length]).toEqual(isLimited ? [20, 5] : [25, 0]);
    await stop();
    // All clients behind a reverse proxy would share one limit.
    expect(String((await served).stderr).includes("--trust-proxy")).toBe(warns);
  });
});
