import type { AccountAdmin, HostContext } from "./ports.ts";
import type { LocalProfile } from "../config/profile.ts";
import { commandAccounts, openEngine } from "./engine.ts";

/**
 * Opens the accounts of an embedded database for its operator.
 * @throws UserError, ServiceError
 */
export async function openAccounts(host: HostContext, profile: LocalProfile): Promise<AccountAdmin> {
  const admin = await import("../engine/accounts/administration.ts");
  const { createInvitation, listInvitations } = await import("../engine/accounts/invitations.ts");
  const { changeEmailAccess, readEmailAccess } = await import("../engine/emails/administration.ts");
  const { savePrivateWebhooks } = await import("../engine/webhooks/private-webhooks.ts");
  const { deleteAccount } = await import("../engine/accounts/deletion.ts");
  // The chosen account need not exist: it can also be given as an argument.
  const own = { ...profile, account: undefined };
  const { transport, appKey } = await openEngine(host, own, { enforceLimits: false, ...commandAccounts });
  const { work } = transport;
  const { read, write } = work;
  return {
    ownAppKey: profile.account ?? appKey,
    list: () => read((context) => admin.listAccounts(context)),
    show: (key) =>
      read(async (context) => ({
        ...(await admin.describeAccount(key, context)),
        emailAccess: await readEmailAccess(key, context),
      })),
    emailAccess: (key) => read((context) => readEmailAccess(key, context)),
    changeEmailAccess: (key, change) => write((context) => changeEmailAccess(key, change, context)),
    setPrivateWebhooks: (key, isAllowed) => write((context) => savePrivateWebhooks(key, isAllowed, context)),
    create: (name) => write((context) => admin.addAccount(name, context)),
    invitations: () => read(listInvitations),
    invite: (lifetimeMs) => write((context) => createInvitation(lifetimeMs, context)),
    disable: (key) => admin.disableAccount(key, work),
    enable: (key) => admin.enableAccount(key, work),
    rotateSecret: (key) => write((context) => admin.rotateSecret(key, context)),
    revokeTokens: (key, token) => write((context) => admin.revokeTokens(key, token, context)),
    delete: (key, onDeleted) => deleteAccount(key, work, onDeleted),
    close: () => transport.close(),
  };
}
