import type { Command, CommandTable } from "./command.ts";
import { recordCommands } from "../commands/records/commands.ts";
import type { AccountEmailVerb } from "../commands/account/email-commands.ts";
import type { ThinCommandName } from "../commands/operations/thin-commands.ts";

/** Every command by name, in the order of the help. A command is loaded only if the command line names it. */
export const commands: CommandTable = {
  ...recordCommands,
  ...thin("products list", "products missed", "products promoted", "products set-promoted"),
  "orders list": async () => (await import("../commands/orders/list.ts")).ordersList,
  "orders get": async () => (await import("../commands/orders/get.ts")).ordersGet,
  "orders create": async () => (await import("../commands/orders/create.ts")).ordersCreate,
  ...thin("coupons list", "coupons stats", "coupons delete"),
  "unsubscribers list": async () => (await import("../commands/unsubscribers/list.ts")).unsubscribersList,
  "unsubscribers add": async () => (await import("../commands/unsubscribers/add.ts")).unsubscribersAdd,
  "unsubscribers remove": async () => (await import("../commands/unsubscribers/remove.ts")).unsubscribersRemove,
  "unsubscribers find": async () => (await import("../commands/unsubscribers/find.ts")).unsubscribersFind,
  "unsubscribers sync": async () => (await import("../commands/unsubscribers/sync.ts")).unsubscribersSync,
  "reviews list": async () => (await import("../commands/reviews/list.ts")).reviewsList,
  "reviews get": async () => (await import("../commands/reviews/get.ts")).reviewsGet,
  ...thin("reviews create", "reviews comment", "reviews edit-comment", "reviews delete-comment"),
  ...thin("reviews publish", "reviews hide", "reviews requeue", "reviews history"),
  "reviews moderate": async () => (await import("../commands/reviews/moderate/moderate.ts")).reviewsModerate,
  ...thin("reviews rules list", "reviews rules add", "reviews rules delete", "reviews rules test"),
  "reviews bottom-line": async () => (await import("../commands/reviews/bottom-line.ts")).reviewsBottomLine,
  "images upload": async () => (await import("../commands/images/upload.ts")).imagesUpload,
  ...thin("groups list", "groups get", "groups create", "groups update", "groups delete"),
  "questions list": async () => (await import("../commands/questions/list.ts")).questionsList,
  ...thin("questions ask", "questions answer", "questions edit-answer", "questions delete-answer"),
  ...thin("questions publish", "questions hide", "questions delete", "questions history"),
  "customers show": async () => (await import("../commands/customers/show.ts")).customersShow,
  "customers export": async () => (await import("../commands/customers/export.ts")).customersExport,
  "customers erase": async () => (await import("../commands/customers/erase.ts")).customersErase,
  "customers erasures": async () => (await import("../commands/customers/erasures.ts")).customersErasures,
  "imports list": async () => (await import("../commands/imports/list.ts")).importsList,
  "imports show": async () => (await import("../commands/imports/show.ts")).importsShow,
  "imports report": async () => (await import("../commands/imports/report.ts")).importsReport,
  "imports resume": async () => (await import("../commands/imports/resume.ts")).importsResume,
  "imports verify": async () => (await import("../commands/imports/verify.ts")).importsVerify,
  "imports undo": async () => (await import("../commands/imports/undo.ts")).importsUndo,
  "imports purge": async () => (await import("../commands/imports/purge.ts")).importsPurge,
  "imports apply": async () => (await import("../commands/imports/apply.ts")).importsApply,
  "mail list": async () => (await import("../commands/mail/list.ts")).mailList,
  "mail show": async () => (await import("../commands/mail/show.ts")).mailShow,
  "mail why": async () => (await import("../commands/mail/why.ts")).mailWhy,
  "mail cancel": async () => (await import("../commands/mail/cancel.ts")).mailCancel,
  "mail unsuppress": async () => (await import("../commands/mail/unsuppress.ts")).mailUnsuppress,
  "mail test": async () => (await import("../commands/mail/test.ts")).mailTest,
  "mail run": async () => (await import("../commands/mail/run.ts")).mailRun,
  "mail stats": async () => (await import("../commands/mail/stats.ts")).mailStats,
  ...thin("mail forecast"),
  "mail configure": async () => (await import("../commands/mail/configure.ts")).mailConfigure,
  "mail rules list": async () => (await import("../commands/mail/rules/list.ts")).mailRulesList,
  "mail rules set": async () => (await import("../commands/mail/rules/set.ts")).mailRulesSet,
  "mail templates list": async () => (await import("../commands/mail/templates/list.ts")).mailTemplatesList,
  "mail templates edit": async () => (await import("../commands/mail/templates/edit.ts")).mailTemplatesEdit,
  "mail templates preview": async () => (await import("../commands/mail/templates/preview.ts")).mailTemplatesPreview,
  "mail templates reset": async () => (await import("../commands/mail/templates/reset.ts")).mailTemplatesReset,
  "mail provider-events": async () => (await import("../commands/mail/provider-events.ts")).mailProviderEvents,
  "webhooks list": async () => (await import("../commands/webhooks/list.ts")).webhooksList,
  "webhooks create": async () => (await import("../commands/webhooks/create.ts")).webhooksCreate,
  "webhooks delete": async () => (await import("../commands/webhooks/delete.ts")).webhooksDelete,
  "webhooks deliveries": async () => (await import("../commands/webhooks/deliveries.ts")).webhooksDeliveries,
  "webhooks redeliver": async () => (await import("../commands/webhooks/redeliver.ts")).webhooksRedeliver,
  "webhooks trigger": async () => (await import("../commands/webhooks/trigger.ts")).webhooksTrigger,
  "webhooks listen": async () => (await import("../commands/webhooks/listen.ts")).webhooksListen,
  "webhooks configure": async () => (await import("../commands/webhooks/configure.ts")).webhooksConfigure,
  serve: async () => (await import("../commands/serve/serve.ts")).serve,
  api: async () => (await import("../commands/api/api.ts")).api,
  "account list": async () => (await import("../commands/account/list.ts")).accountList,
  "account show": async () => (await import("../commands/account/show.ts")).accountShow,
  "account create": async () => (await import("../commands/account/create.ts")).accountCreate,
  "account invitations": async () => (await import("../commands/account/invitations.ts")).accountInvitations,
  "account invite": async () => (await import("../commands/account/invite.ts")).accountInvite,
  "account disable": async () => (await import("../commands/account/disable.ts")).accountDisable,
  "account enable": async () => (await import("../commands/account/enable.ts")).accountEnable,
  "account delete": async () => (await import("../commands/account/delete.ts")).accountDelete,
  "account rotate-secret": async () => (await import("../commands/account/rotate-secret.ts")).accountRotateSecret,
  "account revoke-tokens": async () => (await import("../commands/account/revoke-tokens.ts")).accountRevokeTokens,
  ...thin("account set", "account features", "account set-feature", "account set-platform"),
  "account allow-private-webhooks": async () =>
    (await import("../commands/account/allow-private-webhooks.ts")).accountAllowPrivateWebhooks,
  ...accountEmail("email-status", "enable-email", "disable-email", "set-email-quota"),
  ...accountEmail("approve-recipient", "remove-recipient"),
  "database status": async () => (await import("../commands/database/status.ts")).databaseStatus,
  "database distribute": async () => (await import("../commands/database/distribute.ts")).databaseDistribute,
  "backup create": async () => (await import("../commands/backup/create.ts")).backupCreate,
  "backup list": async () => (await import("../commands/backup/list.ts")).backupList,
  "backup verify": async () => (await import("../commands/backup/verify.ts")).backupVerify,
  "backup restore": async () => (await import("../commands/backup/restore.ts")).backupRestore,
  "sealing-key rotate": async () => (await import("../commands/sealing-key/rotate.ts")).sealingKeyRotate,
  "sealing-key retire": async () => (await import("../commands/sealing-key/retire.ts")).sealingKeyRetire,
  init: async () => (await import("../commands/init/init.ts")).init,
  doctor: async () => (await import("../commands/doctor/doctor.ts")).doctor,
  "profile list": async () => (await import("../commands/profile/list.ts")).profileList,
  "profile add": async () => (await import("../commands/profile/add.ts")).profileAdd,
  "profile use": async () => (await import("../commands/profile/use.ts")).profileUse,
  "profile show": async () => (await import("../commands/profile/show.ts")).profileShow,
  "profile set": async () => (await import("../commands/profile/set.ts")).profileSet,
  "profile remove": async () => (await import("../commands/profile/remove.ts")).profileRemove,
  "auth status": async () => (await import("../commands/auth/status.ts")).authStatus,
  "auth token": async () => (await import("../commands/auth/token.ts")).authToken,
  "auth login": async () => (await import("../commands/auth/login.ts")).authLogin,
  "auth logout": async () => (await import("../commands/auth/logout.ts")).authLogout,
  "auth credentials": async () => (await import("../commands/auth/credentials.ts")).authCredentials,
  "alias set": async () => (await import("../commands/alias/set.ts")).aliasSet,
  "alias list": async () => (await import("../commands/alias/list.ts")).aliasList,
  "alias delete": async () => (await import("../commands/alias/delete.ts")).aliasDelete,
  completion: async () => (await import("../commands/completion/completion.ts")).completion,
  help: async () => (await import("../commands/help/help.ts")).help,
};

/** Commands of the operator that change what an account may send. */
function accountEmail(...verbs: readonly AccountEmailVerb[]): CommandTable {
  const load = (verb: AccountEmailVerb) => async () =>
    (await import("../commands/account/email-commands.ts")).accountEmailCommands[verb];
  return Object.fromEntries(verbs.map((verb) => [`account ${verb}`, load(verb)]));
}

/** Commands that are declared as data, since each only calls one operation. */
function thin(...names: readonly ThinCommandName[]): CommandTable {
  const load = (name: ThinCommandName) => async () =>
    (await import("../commands/operations/thin-commands.ts")).thinCommand(name);
  return Object.fromEntries(names.map((name) => [name, load(name)]));
}

/** A loaded command, or only its name if the command line cannot refer to it. */
export type ListedCommand = Command | { readonly name: string };

/**
 * Loads the commands that a command line can refer to: the one that it names, or all commands of a noun.
 * @throws UserError `usage` for `api` with an unknown operation
 */
export async function loadCommands(table: CommandTable, argv: readonly string[]): Promise<readonly ListedCommand[]> {
  const operation = argv.includes("api") ? await loadOperation(argv) : undefined;
  const named = Object.keys(table).filter((name) => hasWords(argv, name.split(" ")));
  const namedNouns = new Set(named.map(nounOf));
  const isReferable = (name: string) =>
    namedNouns.has(nounOf(name)) ? named.includes(name) : argv.includes(nounOf(name));
  const loading = Object.entries(table).map(async ([name, load]) => {
    if (name === "api" && operation) return operation;
    return isReferable(name) ? await load() : { name };
  });
  return Promise.all(loading);
}

async function loadOperation(argv: readonly string[]): Promise<Command | undefined> {
  const { apiCommandOf, findNamedOperation } = await import("../commands/api/operations.ts");
  const operation = findNamedOperation(argv);
  return operation === undefined ? undefined : apiCommandOf(operation);
}

function nounOf(name: string): string {
  return name.split(" ")[0] ?? "";
}

/** Whether the words occur in this order, with any others between them. */
function hasWords(argv: readonly string[], words: readonly string[]): boolean {
  let from = 0;
  return words.every((word) => (from = argv.indexOf(word, from) + 1) > 0);
}

const synonyms: Readonly<Record<string, readonly string[]>> = { ls: ["list"], rm: ["delete", "remove"] };

/** Replaces `ls` and `rm` with the verbs they stand for: `products ls` becomes `products list`. */
export function replaceSynonyms(argv: readonly string[], table: CommandTable): readonly string[] {
  const at = argv.findIndex((word) => Object.hasOwn(synonyms, word));
  if (at === -1) return argv;
  const names = Object.keys(table);
  const path: string[] = [];
  for (const word of argv.slice(0, at)) {
    if (names.some((name) => `${name} `.startsWith(`${[...path, word].join(" ")} `))) path.push(word);
  }
  if (path.length === 0) return argv;
  const verb = synonyms[argv[at] ?? ""]?.find((found) => [...path, found].join(" ") in table);
  return verb === undefined ? argv : argv.with(at, verb);
}
