import type { OperationName } from "../../contract/index.ts";
import type { Command } from "./command.ts";
import { operationCards } from "../commands/operations/operation-cards.ts";
import { commandNameOf } from "../commands/operations/names.ts";

/** Commands for what people do with the service, in the order of the help. */
const workflows: CommandTable = {
  "products import": async () => (await import("../commands/records/products-import.ts")).productsImport,
  "products list": async () =>
    (await import("../commands/operations/operation-command.ts")).operationCommand(
      "core.listProducts",
      "products list",
    ),
  "products export": async () => (await import("../commands/records/products-export.ts")).productsExport,
  "orders import": async () => (await import("../commands/records/orders-import.ts")).ordersImport,
  "orders export": async () => (await import("../commands/records/orders-export.ts")).ordersExport,
  "coupons import": async () => (await import("../commands/records/coupons-import.ts")).couponsImport,
  "coupons export": async () => (await import("../commands/records/coupons-export.ts")).couponsExport,
  "unsubscribers import": async () =>
    (await import("../commands/records/unsubscribers-import.ts")).unsubscribersImport,
  "products plan": async () => (await import("../commands/records/plan.ts")).planOf("products"),
  "orders plan": async () => (await import("../commands/records/plan.ts")).planOf("orders"),
  "coupons plan": async () => (await import("../commands/records/plan.ts")).planOf("coupons"),
  "unsubscribers find": async () => (await import("../commands/unsubscribers/find.ts")).unsubscribersFind,
  "unsubscribers add": async () => (await import("../commands/unsubscribers/add.ts")).unsubscribersAdd,
  "unsubscribers remove": async () =>
    (await import("../commands/unsubscribers/remove.ts")).unsubscribersRemove,
  "unsubscribers plan": async () => (await import("../commands/records/plan.ts")).planOf("unsubscribers"),
  "imports apply": async () => (await import("../commands/imports/apply.ts")).importsApply,
  "unsubscribers sync": async () => (await import("../commands/unsubscribers/sync.ts")).unsubscribersSync,
  "unsubscribers export": async () =>
    (await import("../commands/records/unsubscribers-export.ts")).unsubscribersExport,
  "reviews import": async () => (await import("../commands/records/reviews-import.ts")).reviewsImport,
  "reviews plan": async () => (await import("../commands/records/plan.ts")).planOf("reviews"),
  "reviews export": async () => (await import("../commands/records/reviews-export.ts")).reviewsExport,
  "products map": async () => (await import("../commands/records/map.ts")).mapOf("products"),
  "orders map": async () => (await import("../commands/records/map.ts")).mapOf("orders"),
  "coupons map": async () => (await import("../commands/records/map.ts")).mapOf("coupons"),
  "unsubscribers map": async () => (await import("../commands/records/map.ts")).mapOf("unsubscribers"),
  "reviews map": async () => (await import("../commands/records/map.ts")).mapOf("reviews"),
  "imports list": async () => (await import("../commands/imports/list.ts")).importsList,
  "imports show": async () => (await import("../commands/imports/show.ts")).importsShow,
  "imports report": async () => (await import("../commands/imports/report.ts")).importsReport,
  "imports resume": async () => (await import("../commands/imports/resume.ts")).importsResume,
  "imports verify": async () => (await import("../commands/imports/verify.ts")).importsVerify,
  "imports undo": async () => (await import("../commands/imports/undo.ts")).importsUndo,
  "imports purge": async () => (await import("../commands/imports/purge.ts")).importsPurge,
  "mail configure": async () => (await import("../commands/mail/configure.ts")).mailConfigure,
  "mail template list": async () => (await import("../commands/mail/templates/list.ts")).mailTemplateList,
  "mail template edit": async () => (await import("../commands/mail/templates/edit.ts")).mailTemplateEdit,
  "mail template preview": async () =>
    (await import("../commands/mail/templates/preview.ts")).mailTemplatePreview,
  "mail template reset": async () => (await import("../commands/mail/templates/reset.ts")).mailTemplateReset,
  "mail run": async () => (await import("../commands/mail/run.ts")).mailRun,
  "mail queue": async () => (await import("../commands/mail/queue.ts")).mailQueue,
  "mail outbox": async () => (await import("../commands/mail/outbox.ts")).mailOutbox,
  "mail show": async () => (await import("../commands/mail/show.ts")).mailShow,
  "mail stop": async () => (await import("../commands/mail/stop.ts")).mailStop,
  "mail allow": async () => (await import("../commands/mail/allow.ts")).mailAllow,
  "mail test": async () => (await import("../commands/mail/test.ts")).mailTest,
  "mail stats": async () => (await import("../commands/mail/stats.ts")).mailStats,
  "mail events-secret": async () => (await import("../commands/mail/events-secret.ts")).mailEventsSecret,
  "mail why": async () => (await import("../commands/mail/why.ts")).mailWhy,
  "mail rules": async () => (await import("../commands/mail/rules.ts")).mailRules,
  "mail set": async () => (await import("../commands/mail/set.ts")).mailSet,
  "webhooks list": async () => (await import("../commands/webhooks/list.ts")).webhooksList,
  "webhooks create": async () => (await import("../commands/webhooks/create.ts")).webhooksCreate,
  "webhooks delete": async () => (await import("../commands/webhooks/delete.ts")).webhooksDelete,
  "webhooks deliveries": async () => (await import("../commands/webhooks/deliveries.ts")).webhooksDeliveries,
  "webhooks redeliver": async () => (await import("../commands/webhooks/redeliver.ts")).webhooksRedeliver,
  "webhooks listen": async () => (await import("../commands/webhooks/listen.ts")).webhooksListen,
  "webhooks configure": async () => (await import("../commands/webhooks/configure.ts")).webhooksConfigure,
  api: async () => (await import("../commands/api/api.ts")).api,
  doctor: async () => (await import("../commands/doctor/doctor.ts")).doctor,
  serve: async () => (await import("../commands/serve/serve.ts")).serve,
  init: async () => (await import("../commands/init/init.ts")).init,
  "profile list": async () => (await import("../commands/profile/list.ts")).profileList,
  "profile add": async () => (await import("../commands/profile/add.ts")).profileAdd,
  "profile use": async () => (await import("../commands/profile/use.ts")).profileUse,
  "profile show": async () => (await import("../commands/profile/show.ts")).profileShow,
  "profile set": async () => (await import("../commands/profile/set.ts")).profileSet,
  "profile remove": async () => (await import("../commands/profile/remove.ts")).profileRemove,
  "auth status": async () => (await import("../commands/auth/status.ts")).authStatus,
  "auth token": async () => (await import("../commands/auth/token.ts")).authToken,
  "auth credentials": async () => (await import("../commands/auth/credentials.ts")).authCredentials,
  "auth login": async () => (await import("../commands/auth/login.ts")).authLogin,
  "auth logout": async () => (await import("../commands/auth/logout.ts")).authLogout,
  help: async () => (await import("../commands/help/help.ts")).help,
  completion: async () => (await import("../commands/completion/completion.ts")).completion,
};

/** The commands of the contract's calls, each made from its card. */
const calls: CommandTable = Object.fromEntries(
  Object.keys(operationCards).map((operation) => [
    commandNameOf(operation),
    async () =>
      (await import("../commands/operations/operation-command.ts")).operationCommand(
        operation as OperationName,
      ),
  ]),
);

/** Every command; one is loaded when the command line names its noun. A call that has a workflow of its own is that. */
export const commands: CommandTable = { ...workflows, ...calls, ...workflows };

const workflowNouns = new Set(Object.keys(workflows).map(nounOf));

/** Nouns that have nothing but calls of the contract. */
export const callNouns: ReadonlySet<string> = new Set(
  Object.keys(calls)
    .map(nounOf)
    .filter((noun) => !workflowNouns.has(noun)),
);

function nounOf(name: string): string {
  return name.split(" ")[0] ?? "";
}

/** Commands by name, each behind its own import: loading all of them would double the time of a start. */
export type CommandTable = Readonly<Record<string, () => Promise<Command>>>;

/** What the nouns are for, in the first help. */
export const nouns: Readonly<Record<string, string>> = {
  products: "Import, list and export products",
  orders: "Import, list and export orders",
  coupons: "Import, list, delete and export unique coupon codes",
  unsubscribers: "Addresses that get no mails: find, add, import, synchronise",
  reviews: "Import, list, comment, publish and export reviews",
  imports: "List, show, resume, verify, undo and purge import runs",
  mail: "Send mails, and say what is sent, when and why",
  template: "Read, change and preview what mails say",
  webhooks: "Tell other programs of reviews, see what they were told",
  api: "Make any call of the API, by its method and path",
  serve: "Serve the embedded engine over HTTP",
  doctor: "Check the installation and suggest fixes",
  init: "Set starpost up: here, or for a service elsewhere",
  profile: "Name accounts and databases, and say which one is used",
  auth: "Sign in to a service, and see who is signed in",
  help: "Help of a command, a noun or a topic",
  completion: "Have the shell complete commands: bash, zsh, fish",
  account: "The account's platform and features",
  answers: "Answer questions, and vote on answers",
  batch: "Several pieces of HTML in one call",
  core: "The core API: its token, and products",
  groups: "Groups of products that share reviews",
  images: "Images of reviews",
  links: "What the links of mails do",
  "email-events": "What the mail provider tells of mails",
  "email-rules": "The rules that keep mails back, as the API has them",
  "email-suppressions": "Addresses that bounced or complained",
  "email-templates": "What mails say, as the API has it",
  emails: "Emails, as the API returns them",
  questions: "Questions of shoppers and their answers",
  "review-requests": "The page to which a review request leads",
  seo: "Pages of reviews for search engines",
  tokens: "Issue a utoken, as the API does",
  tracking: "Opens and clicks of mails",
  users: "Owners of accounts",
  "webhook-deliveries": "Deliveries of webhooks, as the API has them",
};

/** A command, or only its name where the command line cannot mean it. */
export type ListedCommand = Command | { readonly name: string };

/** Loads the commands that a command line can mean: the one that it names whole, else all of the noun that it names. */
export function loadCommands(table: CommandTable, argv: readonly string[]): Promise<ListedCommand[]> {
  const named = Object.keys(table).filter((name) => hasWords(argv, name.split(" ")));
  const nounsMet = new Set(named.map(nounOf));
  const isMeant = (name: string) =>
    nounsMet.has(nounOf(name)) ? named.includes(name) : argv.includes(nounOf(name));
  const loading = Object.entries(table).map(async ([name, load]) =>
    isMeant(name) ? await load() : { name },
  );
  return Promise.all(loading);
}

/** Whether the words are there in their order, whatever is between them. */
function hasWords(argv: readonly string[], words: readonly string[]): boolean {
  let from = 0;
  return words.every((word) => (from = argv.indexOf(word, from) + 1) > 0);
}
