import type { Contract, GroupName, OperationName } from "../contract/index.ts";
import type { HandlerContext, Handlers } from "./handler.ts";

type Loaders = { readonly [G in GroupName]: () => Promise<Handlers<Contract[G]>> };

/** The handlers of every group of the contract, each behind an import of its own: most runs make calls of one group. */
const loaders: Loaders = {
  account: async () => (await import("./account.ts")).accountHandlers,
  answers: async () => (await import("./answers.ts")).answerHandlers,
  batch: async () => (await import("./batch.ts")).batchHandlers,
  core: async () => (await import("./core.ts")).coreHandlers,
  coupons: async () => (await import("./coupons.ts")).couponHandlers,
  groups: async () => (await import("./groups.ts")).groupHandlers,
  images: async () => (await import("./images.ts")).imageHandlers,
  links: async () => (await import("./links.ts")).linkHandlers,
  mail: async () => (await import("./mail.ts")).mailHandlers,
  mailEvents: async () => (await import("./mail-event-intake.ts")).mailEventHandlers,
  mailRules: async () => (await import("./mail-rules.ts")).mailRuleHandlers,
  mailSuppressions: async () => (await import("./mail-suppressions.ts")).mailSuppressionHandlers,
  mailTemplates: async () => (await import("./mail-templates.ts")).mailTemplateHandlers,
  mails: async () => {
    const { mailListHandlers } = await import("./mails.ts");
    const { explainMails } = await import("./mail-why.ts");
    return { ...mailListHandlers, why: explainMails };
  },
  orders: async () => (await import("./orders.ts")).orderHandlers,
  products: async () => (await import("./products.ts")).productHandlers,
  questions: async () => (await import("./questions.ts")).questionHandlers,
  reviewRequests: async () => (await import("./review-requests.ts")).reviewRequestHandlers,
  reviews: async () => (await import("./reviews.ts")).reviewHandlers,
  seo: async () => (await import("./seo.ts")).seoHandlers,
  tokens: async () => (await import("./tokens.ts")).tokenHandlers,
  tracking: async () => (await import("./tracking.ts")).trackingHandlers,
  unsubscribers: async () => (await import("./unsubscribers.ts")).unsubscriberHandlers,
  users: async () => (await import("./users.ts")).userHandlers,
  webhookDeliveries: async () => (await import("./webhook-deliveries.ts")).webhookDeliveryHandlers,
  webhooks: async () => (await import("./webhooks.ts")).webhookHandlers,
};

export type AnyHandler = (input: unknown, context: HandlerContext) => Promise<unknown>;

type Group = Readonly<Record<string, AnyHandler>>;

const loaded = new Map<GroupName, Promise<Group>>();

/** Finds what answers a call. */
export async function findHandler(operation: OperationName): Promise<AnyHandler> {
  const [group, verb] = operation.split(".") as [GroupName, string];
  const handler = (await loadGroup(group))[verb];
  if (!handler) throw new Error(`no handler answers ${operation}`);
  return handler;
}

/**
 * Loads every handler: for a process that goes on when the program's files have been replaced by a newer version's, and
 * for one whose first calls are not to overtake each other.
 */
export async function loadHandlers(): Promise<void> {
  await Promise.all(Object.keys(loaders).map((group) => loadGroup(group as GroupName)));
}

function loadGroup(name: GroupName): Promise<Group> {
  const known = loaded.get(name);
  if (known) return known;
  const loading = loaders[name]() as Promise<unknown> as Promise<Group>;
  loaded.set(name, loading);
  return loading;
}
