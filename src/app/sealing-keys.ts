import type { HostContext, SealingKeyAdmin } from "./ports.ts";
import type { LocalProfile } from "../config/profile.ts";
import {
  createNewKey,
  currentKeyOf,
  hasSealingVariable,
  readSealingKey,
  writeSealingKeys,
} from "../config/sealing-key.ts";
import { usageError } from "../config/user-error.ts";
import { withFileLock } from "../config/with-file-lock.ts";
import { commandAccounts, openEngine } from "./engine.ts";

/**
 * Opens the sealing keys of this machine, and a database that is sealed with them.
 * @throws UserError, ServiceError
 */
export async function openSealingKeys(host: HostContext, profile: LocalProfile): Promise<SealingKeyAdmin> {
  const { env, paths, random } = host;
  const { countOutdated, resealAll } = await import("../engine/accounts/resealing.ts");
  const { transport } = await openEngine(host, profile, { enforceLimits: false, ...commandAccounts });
  const { work } = transport;
  const outdated = () => work.read(countOutdated);
  const readKeys = async () => (await readSealingKey(env, paths.keyFile)) ?? Buffer.alloc(0);
  const inVariable = hasSealingVariable(env);
  const addKey = async (): Promise<boolean> => {
    const keys = await readKeys();
    // An earlier rotation was interrupted, or began with another database.
    if ((await outdated()) > 0) return false;
    if (inVariable) {
      throw usageError(
        "everything is already sealed with the first key of STARPOST_KEY",
        "Set STARPOST_KEY to the new key, a comma, and the old key, for all processes. Then run the command again.",
      );
    }
    await writeSealingKeys(paths.keyFile, Buffer.concat([createNewKey(random), keys]));
    return true;
  };
  return {
    rotate: () =>
      exclusively(paths.keyFile, async () => {
        const isNewKey = await addKey();
        return { isNewKey, ...(await resealAll(work)) };
      }),
    outdated,
    retire: () =>
      exclusively(paths.keyFile, async () => {
        if (inVariable) {
          throw usageError("the keys are in STARPOST_KEY", "Remove the old keys from the variable.");
        }
        const keys = await readKeys();
        const current = currentKeyOf(keys);
        const retired = keys.length / current.length - 1;
        if (retired > 0) await writeSealingKeys(paths.keyFile, current);
        return retired;
      }),
    close: () => transport.close(),
  };
}

function exclusively<T>(keyFile: string, work: () => Promise<T>): Promise<T> {
  return withFileLock(`${keyFile}.lock`, work);
}
