import type { ConnectionSettings } from "./ports.ts";
import { builtInNames } from "../config/profile-name.ts";
import type { RemoteProfile } from "../config/profile.ts";
import { ServiceError } from "../contract/errors.ts";
import type { Transport } from "../service/transport.ts";
import type { Account } from "./account.ts";
import { openSharedPace, usualRate } from "./pacing.ts";

export async function openRemote(settings: ConnectionSettings, profile: RemoteProfile): Promise<Account> {
  const { createHttpTransport } = await import("../client/http-transport.ts");
  const { findProxy } = await import("../config/proxy-settings.ts");
  const { baseUrl, appKey } = profile;
  const { clock, env, onWait } = settings;
  const proxy = findProxy(env, baseUrl);
  const ratePerSecond = settings.rate ?? usualRate;
  const shared = await openSharedPace(settings, { target: baseUrl, appKey }, ratePerSecond);
  const pace = shared.options;
  const remote = createHttpTransport({ baseUrl, proxy, ratePerSecond, clock, pace, onWait });
  const transport: Transport = {
    call: (operation, input, caller, options) =>
      remote.call(operation, input, caller, options).catch((error: unknown) => {
        throw asRefusedSecret(error, profile);
      }),
    close: async () => {
      await remote.close();
      shared.close();
    },
  };
  return { transport, send: remote.send, appKey, secret: undefined, keepsOrder: false, target: baseUrl };
}

/** A service refuses a secret in one word. */
function asRefusedSecret(error: unknown, { name, appKey, baseUrl }: RemoteProfile): unknown {
  if (!(error instanceof ServiceError) || error.kind !== "invalidClient") return error;
  return new ServiceError("invalidClient", `the secret was refused for ${appKey} at ${baseUrl}`, {
    hint:
      name === builtInNames.environment
        ? "put STARPOST_SECRET right where it is set, or sign in with the right one: starpost auth login"
        : `sign in with the right one: starpost auth login --profile ${name}`,
    cause: error,
  });
}
