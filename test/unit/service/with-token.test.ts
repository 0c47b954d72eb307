import { describe, expect, it } from "vitest";
import { type OperationName, ServiceError } from "../../../src/contract/index.ts";
import type { Caller, Transport } from "../../../src/service/transport.ts";
import { type TokenCache, type TokenEntry, withToken } from "../../../src/service/with-token.ts";

const dayMs = 24 * 60 * 60 * 1_000;

interface Made {
  readonly operation: OperationName;
  readonly input: unknown;
  readonly caller: Caller;
}

/** Creates a service that accepts the tokens it issued, and a cache in memory. */
function setUp({
  kept,
  given,
  refuse,
}: { kept?: TokenEntry; given?: string; refuse?: (call: Made) => ServiceError | undefined } = {}) {
  const made: Made[] = [];
  let nowMs = 1_000_000;
  let issued = 0;
  const transport: Transport = {
    call: async (operation, input, caller) => {
      const call = { operation, input, caller };
      made.push(call);
      await Promise.resolve();
      const error = refuse?.(call);
      if (error) throw error;
      if (operation !== "tokens.create") return {} as never;
      issued += 1;
      return { access_token: `token-${issued}`, token_type: "bearer" } as never;
    },
    close: async () => {},
  };
  const cache: TokenCache & { entry: TokenEntry | undefined; reads: number } = {
    entry: kept,
    reads: 0,
    read: async () => {
      cache.reads += 1;
      return cache.entry;
    },
    write: async (entry: TokenEntry) => {
      cache.entry = entry;
    },
    clear: async () => {
      cache.entry = undefined;
    },
  };
  const signed = withToken(transport, {
    appKey: "key",
    readSecret: async () => "secret",
    cache,
    utoken: given,
    clock: () => nowMs,
  });
  return {
    made,
    cache,
    signed,
    list: (signal?: AbortSignal) => signed.call("coupons.list", {}, {}, { signal }),
    callers: () => made.filter(({ operation }) => operation === "coupons.list").map(({ caller }) => caller.utoken),
    fetches: () => made.filter(({ operation }) => operation === "tokens.create").length,
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
}

const unauthorized = new ServiceError("unauthorized", "You are not authorized to access this page.");
const refuseTokens =
  (...tokens: readonly string[]) =>
  ({ operation, caller }: Made) =>
    operation !== "tokens.create" && tokens.includes(caller.utoken ?? "") ? unauthorized : undefined;

describe("withToken", () => {
  it("requests one token for all calls and caches it", async () => {
    const { made, cache, list, callers, fetches } = setUp();
    await Promise.all([list(), list(), list()]);
    await list();
    expect(fetches()).toBe(1);
    expect(made[0]).toEqual({
      operation: "tokens.create",
      input: { client_id: "key", client_secret: "secret", grant_type: "client_credentials" },
      caller: {},
    });
    expect(callers()).toEqual(["token-1", "token-1", "token-1", "token-1"]);
    expect(cache.entry).toEqual({ utoken: "token-1", expiresAtMs: 1_000_000 + 14 * dayMs });
    expect(cache.reads).toBe(1);
  });

  it("uses the cached token while it is valid for more than a day", async () => {
    const { list, callers, fetches, advance } = setUp({ kept: { utoken: "kept", expiresAtMs: 1_000_000 + 2 * dayMs } });
    await list();
    advance(dayMs + 1);
    await list();
    expect(callers()).toEqual(["kept", "token-1"]);
    expect(fetches()).toBe(1);
  });

  it("continues with the old token if a new one is temporarily unavailable", async () => {
    const refuse = ({ operation }: Made) =>
      operation === "tokens.create" ? new ServiceError("unavailable", "down") : undefined;
    const { list, callers, advance } = setUp({ kept: { utoken: "kept", expiresAtMs: 1_000_000 + dayMs / 2 }, refuse });
    await list();
    expect(callers()).toEqual(["kept"]);
    advance(dayMs);
    await expect(list()).rejects.toMatchObject({ kind: "unavailable" });
  });

  it("repeats a call rejected as unauthorized once with a new token, even if it must not be repeated otherwise", async () => {
    const { made, signed, cache } = setUp({
      kept: { utoken: "revoked", expiresAtMs: 1_000_000 + 10 * dayMs },
      refuse: refuseTokens("revoked"),
    });
    await signed.call("coupons.upload", { coupon_action: "map_review", codes: [] }, {});
    expect(made.map(({ operation, caller }) => [operation, caller.utoken])).toEqual([
      ["coupons.upload", "revoked"],
      ["tokens.create", undefined],
      ["coupons.upload", "token-1"],
    ]);
    expect(cache.entry?.utoken).toBe("token-1");
  });

  it("requests one new token for calls rejected together", async () => {
    const { list, fetches } = setUp({
      kept: { utoken: "revoked", expiresAtMs: 1_000_000 + 10 * dayMs },
      refuse: refuseTokens("revoked"),
    });
    await Promise.all([list(), list(), list()]);
    expect(fetches()).toBe(1);
  });

  it("repeats only once", async () => {
    const { list, callers } = setUp({ refuse: refuseTokens("token-1", "token-2", "token-3") });
    await expect(list()).rejects.toMatchObject({ kind: "unauthorized" });
    expect(callers()).toEqual(["token-1", "token-2"]);
  });

  it("does not treat a disabled feature as an invalid token", async () => {
    const { list, fetches } = setUp({
      refuse: ({ operation }) =>
        operation === "coupons.list" ? new ServiceError("featureDisabled", "off") : undefined,
    });
    await expect(list()).rejects.toMatchObject({ kind: "featureDisabled" });
    expect(fetches()).toBe(1);
  });

  it("reports an invalid secret", async () => {
    const { list } = setUp({ refuse: () => new ServiceError("invalidClient", "no") });
    await expect(list()).rejects.toMatchObject({ kind: "invalidClient" });
  });

  it("does not change public calls or given tokens", async () => {
    const { made, signed } = setUp();
    await signed.call("users.get", { user_id: "1" }, {});
    await signed.call("coupons.list", {}, { utoken: "given" });
    expect(made.map(({ caller }) => caller)).toEqual([{}, { appKey: "key", utoken: "given" }]);
  });

  it("works if the token cannot be cached", async () => {
    const { signed, cache, list, callers } = setUp();
    cache.write = () => Promise.reject(new Error("read-only"));
    await list();
    expect(callers()).toEqual(["token-1"]);
    expect((await signed.token()).utoken).toBe("token-1");
  });

  it("requests a new token on demand, whatever is cached", async () => {
    const { signed, cache } = setUp({ kept: { utoken: "kept", expiresAtMs: 1_000_000 + 10 * dayMs } });
    expect((await signed.token()).utoken).toBe("kept");
    expect((await signed.renewToken()).utoken).toBe("token-1");
    expect(cache.entry?.utoken).toBe("token-1");
  });

  it("lets one caller abort without failing the others", async () => {
    const { list } = setUp();
    const stop = new AbortController();
    const gone = list(stop.signal);
    const stays = list();
    stop.abort(new Error("interrupted"));
    await expect(gone).rejects.toThrow("interrupted");
    await expect(stays).resolves.toEqual({});
  });

  it("uses a given token until it is rejected, then the cached one, then a new one", async () => {
    const kept = { utoken: "kept", expiresAtMs: 1_000_000 + 10 * dayMs };
    const setting = { kept, given: "given", refuse: refuseTokens("given", "kept") };
    const { list, callers, fetches, signed, cache } = setUp(setting);
    expect(await signed.token()).toEqual({ utoken: "given", expiresAtMs: undefined });
    await list();
    expect([callers(), fetches()]).toEqual([["given", "kept", "token-1"], 1]);
    expect(cache.entry?.utoken).toBe("token-1");
    const good = setUp({ kept, given: "given", refuse: refuseTokens("given") });
    await good.list();
    await good.list();
    expect([good.callers(), good.fetches()]).toEqual([["given", "kept", "kept"], 0]);
  });

  it("uses the token that another process cached in place of a rejected one", async () => {
    const { list, callers, fetches, cache } = setUp({ refuse: refuseTokens("token-1") });
    cache.exclusively = (work) => {
      cache.entry ??= { utoken: "theirs", expiresAtMs: 1_000_000 + 10 * dayMs };
      return work();
    };
    await list();
    expect([callers(), fetches()]).toEqual([["theirs"], 0]);
  });
});
