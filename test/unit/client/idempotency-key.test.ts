import { afterEach, expect, it } from "vitest";
import { createHttpTransport } from "../../../src/client/http-transport.ts";
import type { CallEvent } from "../../../src/service/transport.ts";
import { aReview } from "../../support/builders.ts";
import { type Loopback, type Responder, sendJson, startLoopback } from "../../support/loopback.ts";

const uploaded = {
  status: { code: 200, message: "OK" },
  response: {
    total_codes: 1,
    errors: Object.fromEntries(
      ["empty_cell", "code_length", "duplicate_code"].map((name) => [name, { error_text: "", error_count: 0 }]),
    ),
    "new-codes": 1,
  },
};

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
});

/** Starts a service that loses the connection in the requests at `lost`, and uploads three lists of codes. */
async function uploadThrice(lost: readonly number[], respond: Responder) {
  const server: Loopback = await startLoopback((response, at, request) => {
    if (lost.includes(at)) response.destroy();
    else respond(response, at, request);
  });
  const transport = createHttpTransport({
    baseUrl: server.url,
    ratePerSecond: 0,
    clock: Date.now,
    sleep: async () => {},
    requestTimeoutMs: 2_000,
  });
  opened.push(server, transport);
  const events: CallEvent[] = [];
  const outcomes: string[] = [];
  for (const idempotencyKey of ["a", "b", "c"]) {
    const options = { idempotencyKey, onEvent: (event: CallEvent) => events.push(event) };
    const input = { coupon_action: "map_review" as const, codes: [idempotencyKey] };
    const call = transport.call("coupons.upload", input, { appKey: "key", utoken: "utoken-5f3c" }, options);
    outcomes.push(
      await call.then(
        () => "ok",
        (error: Error) => error.name,
      ),
    );
  }
  const keys = server.received.map(({ headers }) => headers["idempotency-key"]);
  return { keys, outcomes, replays: events.flatMap((event) => (event.type === "idempotency" ? event.isReplay : [])) };
}

it("repeats a call whose response was lost if the service honors keys", async () => {
  const honor: Responder = (response, at, request) => {
    response.setHeader("idempotency-key", String(request.headers["idempotency-key"]));
    if (at === 2) response.setHeader("idempotent-replayed", "true");
    sendJson(response, 200, uploaded);
  };
  const { keys, outcomes, replays } = await uploadThrice([1], honor);
  expect(keys).toEqual(["a", "b", "b", "c"]);
  expect(outcomes).toEqual(["ok", "ok", "ok"]);
  expect(replays).toEqual([false, true, false]);
});

it("does not repeat it before the service has honored a key", async () => {
  const honor: Responder = (response, _at, request) => {
    response.setHeader("idempotency-key", String(request.headers["idempotency-key"]));
    sendJson(response, 200, uploaded);
  };
  const { keys, outcomes } = await uploadThrice([0], honor);
  expect(keys).toEqual(["a", "b", "c"]);
  expect(outcomes).toEqual(["ServiceError", "ok", "ok"]);
});

it("does not repeat it if the service ignores keys", async () => {
  const { keys, outcomes, replays } = await uploadThrice([1], (response) => sendJson(response, 200, uploaded));
  expect(keys).toEqual(["a", "b", "c"]);
  expect(outcomes).toEqual(["ok", "ServiceError", "ok"]);
  expect(replays).toEqual([]);
});

it("does not repeat a call without a token, whose key the service ignores", async () => {
  const server = await startLoopback((response, at, request) => {
    response.setHeader("idempotency-key", String(request.headers["idempotency-key"]));
    if (at === 0) sendJson(response, 200, uploaded);
    else response.destroy();
  });
  const options = { baseUrl: server.url, ratePerSecond: 0, clock: Date.now, sleep: async () => {} };
  const transport = createHttpTransport(options);
  opened.push(server, transport);
  const codes = { coupon_action: "map_review" as const, codes: ["a"] };
  await transport.call("coupons.upload", codes, { appKey: "key", utoken: "utoken-5f3c" }, { idempotencyKey: "a" });
  const call = transport.call("reviews.create", aReview(), { appKey: "key" }, { idempotencyKey: "b" });
  await expect(call).rejects.toMatchObject({ outcomeUnknown: true });
  expect(server.received.map(({ headers }) => headers["idempotency-key"])).toEqual(["a", undefined]);
});
