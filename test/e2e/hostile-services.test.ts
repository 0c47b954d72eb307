import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { Homes } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

/** A service that grants tokens and answers all other calls in the same way. */
async function startService(answer: (response: ServerResponse, nth: number) => void) {
  let received = 0;
  const server = createServer((request, response) => {
    request.resume();
    if (request.url?.startsWith("/oauth/token") === true) {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ access_token: "t".repeat(40), token_type: "bearer", expires_in: 1_209_600 }));
      return;
    }
    received += 1;
    answer(response, received);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { STARPOST_BASE_URL: url, STARPOST_APP_KEY: "a".repeat(40), STARPOST_SECRET: "s".repeat(40) };
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { home: homes.open(env), received: () => received, close };
}

function refuse(response: ServerResponse, status: number, retryAfter: string | string[]): void {
  response.setHeader("retry-after", retryAfter);
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ status: { code: status, message: "Too many requests", error_type: "Throttled" } }));
}

const orders =
  "order_id,order_date,customer_name,email,product_id,product_name,product_url\n1,2026-01-02,N,a@b.example,p,N,https://shop.example/p\n";

test.each([
  [429, "99999999"],
  [429, ["99999999", "1"]],
  [429, "9".repeat(400)],
  [503, "99999999"],
  [503, "Fri, 31 Dec 9999 23:59:59 GMT"],
] as const)(
  "a service that answers %i with Retry-After %j ends commands with status 5",
  async (status, asked) => {
    const service = await startService((response) => refuse(response, status, asked as string | string[]));
    try {
      const { home } = service;
      const file = join(home.folder, "orders.csv");
      writeFileSync(file, orders);
      const last = ["reviews", "list"];
      for (const args of [["reviews", "list"], ["orders", "import", file], last]) {
        const startedAt = performance.now();
        const { exitCode, stderr } = await (args === last ? home.runProcess(args) : home.run(args));
        expect(stderr).toMatch(/the service asks to be called again at \d{4}-\d\d-\d\dT[\d:]+Z/i);
        expect(stderr).toContain("at most 5 minutes");
        expect(exitCode).toBe(5);
        expect(performance.now() - startedAt).toBeLessThan(20_000);
      }
    } finally {
      service.close();
    }
  },
  120_000,
);

test("a command that waits for Retry-After says so, and later commands, too", async () => {
  const service = await startService((response) => refuse(response, 429, "250"));
  try {
    const waitFor = async (message: RegExp) => {
      const running = service.home.start(["reviews", "list"]);
      let written = "";
      running.stderr?.on("data", (data: Buffer) => {
        written += data.toString();
        // A second after a 429, it would call again if it did not wait.
        if (message.test(written)) setTimeout(() => running.kill(), 2_000);
      });
      await running;
      expect(written).toMatch(message);
    };
    await waitFor(/the service is throttling calls \(429\); retrying in 4 min/);
    await waitFor(/rate limit of the service reached; next call in 4 min \d\d s/);
    expect(service.received()).toBe(1);
  } finally {
    service.close();
  }
}, 60_000);

test.each(["-5", "NaN", "0.5", "soon", ""])(
  "Retry-After %j delays a call by about a second",
  async (asked) => {
    const service = await startService((response, nth) => {
      if (nth === 1) refuse(response, 429, asked);
      else response.writeHead(200, { "content-type": "application/json" }).end('{"reviews":[]}');
    });
    try {
      const startedAt = performance.now();
      const { exitCode } = await service.home.run(["reviews", "list"]);
      expect(exitCode).toBe(0);
      expect(performance.now() - startedAt).toBeLessThan(15_000);
    } finally {
      service.close();
    }
  },
  60_000,
);
