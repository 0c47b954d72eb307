import { Agent, request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Endpoint, operations } from "../../src/contract/index.ts";
import { createServer } from "../../src/server/server.ts";
import { engines, type Harness } from "../support/backends.ts";
import { silentLog } from "../support/silent-log.ts";
import type { Seeded } from "./endpoint-inputs.ts";
import { type FuzzRequest, createMalformedRequest } from "./malformed-requests.ts";
import { createRandom } from "./random.ts";
import { findFault, type Reply } from "./response-faults.ts";
import { chooseSize, sample } from "../support/suite-size.ts";

const requestsPerOperation = chooseSize(6, 750);
const concurrency = 8;
const replyWithinMs = 60_000;

interface FuzzServer {
  readonly send: (fuzzRequest: FuzzRequest) => Promise<Reply>;
  readonly seed: () => Promise<Seeded>;
}

/** Starts one server with keep-alive connections; each operation gets an account of its own. */
function useServer(open: () => Promise<Harness>): () => FuzzServer {
  let fuzzServer: FuzzServer | undefined;
  const closing: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    const harness = await open();
    closing.unshift(() => harness.close());
    const server = createServer(harness.transport, { logger: silentLog });
    closing.unshift(() => server.close());
    const { url } = await server.listen({ host: "127.0.0.1", port: 0 });
    const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
    closing.unshift(async () => agent.destroy());
    fuzzServer = {
      send: (fuzzRequest: FuzzRequest) => send(url, agent, fuzzRequest),
      seed: () => seedAccount(harness),
    };
  });
  afterAll(async () => {
    for (const close of closing) await close();
  });
  return () => {
    if (!fuzzServer) throw new Error("the server runs only during a test");
    return fuzzServer;
  };
}

async function seedAccount({ newAccount, service }: Harness): Promise<Seeded> {
  const { caller, secret, userId } = await newAccount();
  const client = service(caller);
  const { reviews } = await client.reviews.createNow({
    sku: "teapot",
    product_title: "Teapot",
    product_url: "https://shop.example/teapot",
    display_name: "Jane Doe",
    email: "jane@mail.example",
    review_content: "It pours well.",
    review_title: "Good pot",
    review_score: 5,
  });
  await client.groups.create({ group_name: "pots" });
  return { ...caller, secret, userId, reviewId: reviews[0]?.id ?? 0 };
}

function send(url: string, agent: Agent, { method, path, headers, body }: FuzzRequest): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const clientRequest = request(url + "/", { method, path, headers, agent, timeout: replyWithinMs }, (response) => {
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
    clientRequest.on("timeout", () => clientRequest.destroy(new Error(`no response within ${replyWithinMs} ms`)));
    clientRequest.on("error", reject);
    clientRequest.end(body);
  });
}

const shorten = (text: string) => (text.length > 400 ? `${text.slice(0, 400)}… (${text.length})` : text);

async function fuzz(endpoint: Endpoint, seed: number, server: FuzzServer): Promise<string[]> {
  const random = createRandom(seed);
  const seeded = await server.seed();
  // Generate every request before sending the first, so that all runs send the same requests.
  const requests = Array.from({ length: requestsPerOperation }, () => createMalformedRequest(endpoint, seeded, random));
  const pending = requests.values();
  const faults: string[] = [];
  const sendPending = async () => {
    for (const fuzzRequest of pending) {
      const response = await server.send(fuzzRequest).catch((error: unknown) => String(error));
      const fault = typeof response === "string" ? response : findFault(response, endpoint);
      if (fault === undefined) continue;
      const sentRequest = `${fuzzRequest.method} ${fuzzRequest.path} ${JSON.stringify(fuzzRequest.headers)} ${String(fuzzRequest.body)}`;
      const details = typeof response === "string" ? "" : `${response.status} ${shorten(response.text)}`;
      faults.push(`${fault}: ${details}\n  for ${shorten(sentRequest)}`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, sendPending));
  return faults;
}

const endpoints = [...operations.entries()].map(([name, endpoint], index) => ({ name, endpoint, index }));
const backends = engines.map((engine, offset) => ({ ...engine, offset }));

describe.each(backends)("malformed requests to $name", ({ open, offset }) => {
  const server = useServer(() => open());

  // Each operation on one of the databases; in the slow suite, on all.
  it.each(sample(endpoints, { offset, step: engines.length }))(
    "never cause a server error in $name",
    async ({ endpoint, index }) => {
      expect(await fuzz(endpoint, 4_711 + index, server())).toEqual([]);
      const { appKey, utoken } = await server().seed();
      const path = `/v1/apps/${appKey}/reviews?utoken=${utoken}`;
      const reply = await server().send({ method: "GET", path, headers: {}, body: undefined });
      expect(reply.status).toBe(200);
      expect(JSON.parse(reply.text)).toMatchObject({ reviews: [{ score: 5 }] });
    },
  );

  it("do not modify the built-in objects of the process", () => {
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});
