import type { ConnectionSettings } from "./ports.ts";
import type { PacedAccount } from "../client/shared-pace.ts";
import { type Transport, wrapTransport } from "../service/transport.ts";

/** Default rate for remote services, in calls per second. Source: spec "Limits". */
export const defaultRate = 5;

/** Higher rates, in calls per second, are not shared between processes. */
const maxSharedRate = 50;

/** The rate limit for calls to an account, in calls per second; undefined if calls are not paced. */
export function findRate({ profile, rate, rateShare = 1 }: ConnectionSettings): number | undefined {
  return (rate ?? (profile.mode === "local" ? 0 : defaultRate)) * rateShare || undefined;
}

/** Limits the rate of calls to the embedded engine, if the user requested a rate. */
export async function pace(
  transport: Transport,
  settings: ConnectionSettings,
  account: PacedAccount,
): Promise<Transport> {
  const { rate = 0, clock } = settings;
  if (rate === 0) return transport;
  const { Pacer } = await import("../client/pacer.ts");
  const { sleep } = await import("../client/sleep.ts");
  const shared = await openSharedPace(settings, account, rate);
  const pacer = new Pacer({ ratePerSecond: rate, clock, sleep, ...shared.options });
  const close = async () => {
    await transport.close();
    shared.close();
  };
  return wrapTransport(
    transport,
    async (operation, input, caller, options) => {
      await pacer.acquire(options);
      return transport.call(operation, input, caller, options);
    },
    close,
  );
}

/**
 * Opens the pacing file through which all processes on this machine share the rate limit of an account.
 * Assumed: above 50 calls per second, each process is paced separately, because the service has no such limit.
 */
export async function openSharedPace(
  { paths, clock, random, rateShare: share, notice }: ConnectionSettings,
  account: PacedAccount,
  rate: number,
) {
  if (rate === 0 || rate > maxSharedRate) return { options: { share }, close: () => {} };
  const { paceFileOf, SharedPace } = await import("../client/shared-pace.ts");
  const { FileLock } = await import("../storage/file-lock.ts");
  const { sleep } = await import("../client/sleep.ts");
  const path = paceFileOf(paths.limitsFolder, account);
  const store = new SharedPace({
    path: `${path}.json`,
    openLock: () => new FileLock(`${path}.lock`),
    sleep,
    clock,
    onFailure: (error) => {
      const reason = (error as Error).message;
      notice?.(`Cannot use ${path}.json (${reason}). Processes are paced separately and may exceed the rate in total.`);
    },
  });
  const id = random(6).toString("hex");
  return { options: { share, store, id }, close: () => store.close() };
}
