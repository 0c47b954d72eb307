import type { ConnectionSettings } from "./ports.ts";
import type { PacedAccount } from "../client/pace-file.ts";
import type { Transport } from "../service/transport.ts";

/** Calls a second to a service that says nothing else. Source: spec "Limits". */
export const usualRate = 5;

/** Rates above this, in calls a second, are not shared between processes. */
const mostSharedRate = 50;

/** Calls a second that a profile's account is given; nothing where they are not paced. */
export function heldTo({ profile, rate, rateShare = 1 }: ConnectionSettings): number | undefined {
  return (rate ?? (profile.mode === "local" ? 0 : usualRate)) * rateShare || undefined;
}

/** Keeps calls to a rate that was asked for in words; by itself the embedded engine is not paced. */
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
  return {
    call: async (operation, input, caller, options) => {
      await pacer.acquire(options);
      return transport.call(operation, input, caller, options);
    },
    close: async () => {
      await transport.close();
      shared.close();
    },
  };
}

/**
 * The pace that all processes of this machine keep together towards an account.
 * Assumed: above 50 calls a second each process keeps a pace of its own, since no limit of the service is near.
 */
export async function openSharedPace(
  { paths, clock, random, rateShare: share, notice }: ConnectionSettings,
  account: PacedAccount,
  rate: number,
) {
  if (rate === 0 || rate > mostSharedRate) return { options: { share }, close: () => {} };
  const { SharedPace } = await import("../client/shared-pace.ts");
  const { FileLock } = await import("../storage/file-lock.ts");
  const { sleep } = await import("../client/sleep.ts");
  const { paceFileOf } = await import("../client/pace-file.ts");
  const path = paceFileOf(paths.limitsFolder, account);
  const store = new SharedPace({
    path: `${path}.json`,
    openLock: () => new FileLock(`${path}.lock`),
    sleep,
    clock,
    onFailure: (error) => {
      const why = (error as Error).message;
      notice?.(
        `${path}.json cannot be used (${why}): other processes are not heeded, and together they may exceed the rate`,
      );
    },
  });
  const id = random(6).toString("hex");
  return { options: { share, store, id }, close: () => store.close() };
}
