import { createServer } from "../../src/server/server.ts";
import type { Transport } from "../../src/service/transport.ts";
import { silentLog } from "./silent-log.ts";

interface Target {
  readonly transport: Transport;
  readonly clock: () => number;
}

interface SharedServer {
  readonly url: string;
  readonly aimAt: (target: Target) => void;
}

export interface SharedServerOptions {
  /** For the rate-limit headers of core calls that did not count; without a clock, these are omitted. */
  readonly clock?: () => number;
  readonly trustedProxies?: readonly string[] | undefined;
}

/** Servers that earlier tests of this worker released, by their options. */
const released = new Map<string, SharedServer[]>();

/**
 * Serves a transport over loopback until it is released. Later tests use the server again, because its start takes longer than
 * most tests, and it keeps nothing between calls.
 */
export async function takeServer(
  transport: Transport,
  { clock, trustedProxies }: SharedServerOptions = {},
): Promise<{ readonly url: string; readonly release: () => void }> {
  const key = JSON.stringify([clock !== undefined, trustedProxies]);
  const free = released.get(key) ?? [];
  released.set(key, free);
  const server = free.pop() ?? (await startServer(clock !== undefined, trustedProxies));
  server.aimAt({ transport, clock: clock ?? (() => 0) });
  return { url: server.url, release: () => void free.push(server) };
}

async function startServer(hasClock: boolean, trustedProxies: readonly string[] | undefined): Promise<SharedServer> {
  let target: Target | undefined;
  const current = () => {
    if (!target) throw new Error("no transport is served");
    return target;
  };
  const transport: Transport = {
    engine: { clientAddress: true, hasVersion: true, outside: true },
    gate: {
      checkFailures: async (address) => current().transport.gate?.checkFailures(address),
      countRefusal: async (address) => current().transport.gate?.countRefusal(address),
      charge: async (address, cpuMs) => current().transport.gate?.charge(address, cpuMs),
    },
    call: (...call) => current().transport.call(...call),
    close: async () => {},
  };
  const clock = hasClock ? { clock: () => current().clock() } : {};
  const server = createServer(transport, { logger: silentLog, ...clock, trustedProxies });
  const { url } = await server.listen({ host: "127.0.0.1", port: 0 });
  return { url, aimAt: (next) => void (target = next) };
}
