import type { AccountAdmin, HostContext } from "./ports.ts";
import type { LocalProfile } from "../config/profile.ts";
import type { EngineWork, HandlerContext } from "../engine/kernel/handler.ts";
import { commandAccounts, openEngine } from "./engine.ts";

/**
 * Opens the accounts of an embedded database for its operator.
 * @throws UserError, ServiceError
 */
export async function openAccounts(
  host: HostContext,
  profile: LocalProfile,
  isRehearsed = false,
): Promise<AccountAdmin> {
  const admin = await import("../engine/accounts/administration.ts");
  const { createInvitation, listInvitations } = await import("../engine/accounts/invitations.ts");
  const { changeEmailAccess, readEmailAccess } = await import("../engine/emails/administration.ts");
  const { savePrivateWebhooks } = await import("../engine/webhooks/private-webhooks.ts");
  const { deleteAccount } = await import("../engine/accounts/deletion.ts");
  // The chosen account need not exist: it can also be given as an argument.
  const own = { ...profile, account: undefined };
  const { transport, appKey } = await openEngine(host, own, { enforceLimits: false, ...commandAccounts });
  const { work } = transport;
  const { read } = work;
  const write = isRehearsed ? rollBack(work.write) : work.write;
  const writeTo = async <T>(key: string, task: (context: HandlerContext) => Promise<T>) =>
    write(await read((context) => admin.findAccountId(key, context)), task);
  return {
    ownAppKey: profile.account ?? appKey,
    list: () => read((context) => admin.listAccounts(context)),
    show: (key) =>
      read(async (context) => ({
        ...(await admin.describeAccount(key, context)),
        emailAccess: await readEmailAccess(key, context),
      })),
    emailAccess: (key) => read((context) => readEmailAccess(key, context)),
    changeEmailAccess: (key, change) => writeTo(key, (context) => changeEmailAccess(key, change, context)),
    setPrivateWebhooks: (key, isAllowed) => writeTo(key, (context) => savePrivateWebhooks(key, isAllowed, context)),
    create: (name) => write(undefined, (context) => admin.addAccount(name, context)),
    invitations: () => read(listInvitations),
    invite: (lifetimeMs) => write(undefined, (context) => createInvitation(lifetimeMs, context)),
    disable: (key) => admin.disableAccount(key, work),
    enable: (key) => admin.enableAccount(key, work),
    rotateSecret: (key) => writeTo(key, (context) => admin.rotateSecret(key, context)),
    revokeTokens: (key, token) => writeTo(key, (context) => admin.revokeTokens(key, token, context)),
    delete: (key, onDeleted) => deleteAccount(key, work, onDeleted),
    close: () => transport.close(),
  };
}

/** Makes writes whose changes are discarded. */
function rollBack(write: EngineWork["write"]): EngineWork["write"] {
  return async <T>(accountId: number | undefined, work: (context: HandlerContext) => Promise<T>): Promise<T> => {
    let done: { readonly result: T } | undefined;
    try {
      await write(accountId, async (context) => {
        done = { result: await work(context) };
        throw new Error("rolled back");
      });
    } catch (error) {
      if (done === undefined) throw error;
    }
    return (done as unknown as { readonly result: T }).result;
  };
}
