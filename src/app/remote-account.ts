import type { ConnectionSettings } from "./ports.ts";
import { builtInNames } from "../config/profile-name.ts";
import type { RemoteProfile } from "../config/profile.ts";
import { ServiceError } from "../contract/errors.ts";
import type { Transport } from "../service/transport.ts";
import { defaultRate, openSharedPace } from "./pacing.ts";
import type { SendRaw } from "../service/raw-call.ts";

export async function openRemote(settings: ConnectionSettings, profile: RemoteProfile): Promise<Account> {
  const { createHttpTransport } = await import("../client/http-transport.ts");
  const { findProxy } = await import("../config/proxy-settings.ts");
  const { baseUrl, appKey } = profile;
  const { clock, env, onWait, onTrace } = settings;
  const proxy = findProxy(env, baseUrl);
  const ratePerSecond = settings.rate ?? defaultRate;
  const shared = await openSharedPace(settings, { target: baseUrl, appKey }, ratePerSecond);
  const pace = shared.options;
  const remote = createHttpTransport({ baseUrl, proxy, ratePerSecond, clock, pace, onWait, onTrace });
  const transport: Transport = {
    call: (operation, input, caller, options) =>
      remote.call(operation, input, caller, options).catch((error: unknown) => {
        throw describeRejectedSecret(error, profile);
      }),
    close: async () => {
      await remote.close();
      shared.close();
    },
  };
  return { transport, send: remote.send, appKey, secret: undefined, keepsOrder: false, target: baseUrl };
}

/** Adds the account and a hint to the error for a rejected secret. */
function describeRejectedSecret(error: unknown, { name, appKey, baseUrl }: RemoteProfile): unknown {
  if (!(error instanceof ServiceError) || error.kind !== "invalidClient") return error;
  return new ServiceError("invalidClient", `${baseUrl} rejected the secret of app key ${appKey}`, {
    hint:
      name === builtInNames.environment
        ? "correct STARPOST_SECRET if it is set; otherwise, run `starpost auth login`"
        : `run \`starpost auth login --profile ${name}\``,
    cause: error,
  });
}

/** An account, and the transport for unsigned calls to it. */
export interface Account {
  readonly transport: Transport;
  /** Sends any call, also one that is not in the contract, unsigned. */
  readonly send: SendRaw;
  readonly appKey: string;
  readonly secret: string | undefined;
  /** Whether calls run in the order in which they were made. Not over HTTP, or with several database connections. */
  readonly keepsOrder: boolean;
  /** The address of the service, or the database as it is shown to users. */
  readonly target: string;
}
