import { Agent, request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Endpoint, operations } from "../../src/contract/index.ts";
import { createServer } from "../../src/server/server.ts";
import { backends, type Harness } from "../support/backends.ts";
import { silentLog } from "../support/silent-log.ts";
import type { Seeded } from "./endpoint-inputs.ts";
import { type FuzzRequest, spoiltRequest } from "./malformed-requests.ts";
import { createRandom } from "./random.ts";
import { chooseSize } from "../support/sizes.ts";

const requestsPerOperation = chooseSize(20, 750);
const concurrency = 8;
const replyWithinMs = 60_000;

interface Reply {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

interface Fuzzed {
  readonly ask: (sent: FuzzRequest) => Promise<Reply>;
  readonly seed: () => Promise<Seeded>;
}

/** One server, an account for each call, and connections that are kept. */
function useServer(open: () => Promise<Harness>): () => Fuzzed {
  let held: Fuzzed | undefined;
  const closing: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    const harness = await open();
    closing.unshift(() => harness.close());
    const server = createServer(harness.transport, { logger: silentLog });
    closing.unshift(() => server.close());
    const { url } = await server.listen({ host: "127.0.0.1", port: 0 });
    const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
    closing.unshift(async () => agent.destroy());
    held = { ask: (sent) => send(url, agent, sent), seed: () => seedAccount(harness) };
  });
  afterAll(async () => {
    for (const close of closing) await close();
  });
  return () => {
    if (!held) throw new Error("the server runs only while tests do");
    return held;
  };
}

async function seedAccount({ newAccount, service }: Harness): Promise<Seeded> {
  const { caller, secret, userId } = await newAccount();
  const mine = service(caller);
  const { reviews } = await mine.reviews.createNow({
    sku: "teapot",
    product_title: "Teapot",
    product_url: "https://shop.example/teapot",
    display_name: "Jane Doe",
    email: "jane@mail.example",
    review_content: "It pours well.",
    review_title: "Good pot",
    review_score: 5,
  });
  await mine.groups.create({ group_name: "pots" });
  return { ...caller, secret, userId, reviewId: reviews[0]?.id ?? 0 };
}

function send(url: string, agent: Agent, { method, path, headers, body }: FuzzRequest): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request(url + "/", { method, path, headers, agent, timeout: replyWithinMs }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        resolve({
          status: response.statusCode ?? 0,
          type: response.headers["content-type"] ?? "",
          text: Buffer.concat(chunks).toString("latin1"),
        });
      });
    });
    sent.on("timeout", () => sent.destroy(new Error(`no answer within ${replyWithinMs} ms`)));
    sent.on("error", reject);
    sent.end(body);
  });
}

/** What no answer may show: where the program is, what it runs on, what it stores in. */
const insides =
  /\n\s+at |node:internal|node_modules|\/src\/|\.[jt]s:\d|SQLITE|sqlite|postgres|relation "|ENOENT/;

/** Says what is wrong with an answer, or nothing. */
function faultOf(
  { status, type, text }: Reply,
  { supportsJsonp, htmlPaths, reply }: Endpoint,
): string | undefined {
  if (insides.test(text)) return "shows its insides";
  if (text.includes("InternalError")) return "is an internal error";
  if (status === 204 && text === "") return undefined;
  const isSuccess = status >= 200 && status < 300;
  if (isSuccess && htmlPaths && type.startsWith("text/html")) return undefined;
  if (isSuccess && supportsJsonp === true && type.startsWith("application/javascript")) return undefined;
  if (isSuccess && reply.media === "bytes" && type.startsWith("image/")) return undefined;
  if (!type.startsWith("application/json")) return `is no JSON but ${type}`;
  return faultOfJson(status, text);
}

function faultOfJson(status: number, text: string): string | undefined {
  try {
    const body = JSON.parse(text) as { status?: { error_type?: string } };
    const isOfSpecification = body.status?.error_type === "Exceptions::InvalidParams";
    return status >= 500 && !isOfSpecification ? "is a failure of the server" : undefined;
  } catch {
    return "says that it is JSON, and is none";
  }
}

const shorten = (text: string) => (text.length > 400 ? `${text.slice(0, 400)}… (${text.length})` : text);

async function fuzz(endpoint: Endpoint, seed: number, { ask, seed: newSeeded }: Fuzzed): Promise<string[]> {
  const random = createRandom(seed);
  const seeded = await newSeeded();
  // All are made up before the first is sent, so that they are the same in every run.
  const requests = Array.from({ length: requestsPerOperation }, () =>
    spoiltRequest(endpoint, seeded, random),
  );
  const waiting = requests.values();
  const faults: string[] = [];
  const sendWaiting = async () => {
    for (const sent of waiting) {
      const answered = await ask(sent).catch((error: unknown) => String(error));
      const fault = typeof answered === "string" ? answered : faultOf(answered, endpoint);
      if (fault === undefined) continue;
      const asked = `${sent.method} ${sent.path} ${JSON.stringify(sent.headers)} ${String(sent.body)}`;
      const got = typeof answered === "string" ? "" : `${answered.status} ${shorten(answered.text)}`;
      faults.push(`${fault}: ${got}\n  for ${shorten(asked)}`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, sendWaiting));
  return faults;
}

describe.each(backends.filter(({ name }) => name.startsWith("local")))(
  "malformed requests over $name",
  ({ open }) => {
    const server = useServer(() => open());

    it.each([...operations.entries()].map(([name, endpoint], at) => ({ name, endpoint, at })))(
      "never break $name",
      async ({ endpoint, at }) => {
        expect(await fuzz(endpoint, 4_711 + at, server())).toEqual([]);
        const { appKey, utoken } = await server().seed();
        const path = `/v1/apps/${appKey}/reviews?utoken=${utoken}`;
        const good = await server().ask({ method: "GET", path, headers: {}, body: undefined });
        expect(good.status).toBe(200);
        expect(JSON.parse(good.text)).toMatchObject({ reviews: [{ score: 5 }] });
      },
    );

    it("leave the program's own objects as they were", () => {
      expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
      expect(Object.keys(Object.prototype)).toEqual([]);
    });
  },
);
