import type { Contract, GroupName, OperationName } from "../contract/index.ts";
import type { Account, HandlerContext, Handlers } from "./kernel/handler.ts";

type Loaders = { readonly [G in GroupName]: () => Promise<Handlers<Contract[G]>> };

/** The handlers of every contract group, each loaded on first use, because most runs call operations of one group only. */
const loaders: Loaders = {
  account: async () => (await import("./accounts/platform.ts")).accountHandlers,
  answers: async () => (await import("./questions/answers.ts")).answerHandlers,
  batch: async () => (await import("./storefront/batch.ts")).batchHandlers,
  core: async () => (await import("./products/core.ts")).coreHandlers,
  coupons: async () => (await import("./coupons/coupons.ts")).couponHandlers,
  customers: async () => (await import("./customers/customers.ts")).customerHandlers,
  emailEvents: async () => (await import("./emails/events/intake.ts")).emailEventHandlers,
  emailRules: async () => (await import("./emails/rules/rule-handlers.ts")).emailRuleHandlers,
  emailSuppressions: async () => (await import("./emails/events/suppressions.ts")).emailSuppressionHandlers,
  emailTemplates: async () => (await import("./emails/templates.ts")).emailTemplateHandlers,
  emails: async () => (await import("./emails/emails.ts")).emailHandlers,
  groups: async () => (await import("./groups/groups.ts")).groupHandlers,
  images: async () => (await import("./reviews/images.ts")).imageHandlers,
  links: async () => (await import("./emails/links.ts")).linkHandlers,
  orders: async () => {
    const { createOrderHandlers } = await import("./orders/orders.ts");
    return createOrderHandlers(async (orderIds, context) => {
      const { countScheduledEmails } = await import("./emails/rules/scheduled-emails.ts");
      return countScheduledEmails(orderIds, context);
    });
  },
  products: async () => {
    const { productHandlers } = await import("./products/products.ts");
    const { listPromotedProducts, setPromotedProducts } = await import("./reviews/promoted-products.ts");
    return { ...productHandlers, promoted: listPromotedProducts, setPromoted: setPromotedProducts };
  },
  questions: async () => (await import("./questions/questions.ts")).questionHandlers,
  reviewRequests: async () => (await import("./reviews/requests/review-requests.ts")).reviewRequestHandlers,
  reviewRules: async () => (await import("./reviews/moderation/rule-handlers.ts")).reviewRuleHandlers,
  reviews: async () => (await import("./reviews/reviews.ts")).reviewHandlers,
  seo: async () => (await import("./storefront/seo.ts")).seoHandlers,
  tokens: async () => (await import("./accounts/tokens.ts")).tokenHandlers,
  tracking: async () => (await import("./emails/events/tracking.ts")).trackingHandlers,
  unsubscribers: async () => (await import("./unsubscribers/unsubscribers.ts")).unsubscriberHandlers,
  users: async () => (await import("./accounts/users.ts")).userHandlers,
  webhookDeliveries: async () => (await import("./webhooks/deliveries.ts")).webhookDeliveryHandlers,
  webhooks: async () => (await import("./webhooks/webhooks.ts")).webhookHandlers,
};

export type AnyHandler = (input: unknown, context: HandlerContext) => Promise<unknown>;

type Group = Readonly<Record<string, AnyHandler>>;

const loaded = new Map<GroupName, Promise<Group>>();

export async function findHandler(operation: OperationName): Promise<AnyHandler> {
  const [group, verb] = operation.split(".") as [GroupName, string];
  const handler = (await loadGroup(group))[verb];
  if (!handler) throw new Error(`no handler for ${operation}`);
  return handler;
}

/**
 * Loads all handlers. A long-running process needs this because an update may replace the program's files, and a caller
 * that depends on the order of its first calls because loading could reorder them.
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

/** Handles several calls of one account together. If one fails, all fail. */
export interface CombinedHandler {
  /** Whether a call can be handled together with others. */
  readonly accepts: (input: unknown, account: Account | undefined) => boolean;
  /** @returns the results, in the order of the inputs; a ServiceError for a call that is rejected and changed nothing */
  readonly handleAll: (inputs: readonly unknown[], context: HandlerContext) => Promise<readonly unknown[]>;
}

function combine<Input>(
  accepts: (input: Input, account: Account | undefined) => boolean,
  handleAll: (inputs: readonly Input[], context: HandlerContext) => Promise<readonly unknown[]>,
): CombinedHandler {
  return {
    accepts: (input, account) => accepts(input as Input, account),
    handleAll: (inputs, context) => handleAll(inputs as readonly Input[], context),
  };
}

/** Operations of which a client sends many calls, each with one record, and several at once. */
const combinedLoaders: Readonly<Partial<Record<OperationName, () => Promise<CombinedHandler>>>> = {
  "answers.vote": async () => {
    const { voteOnAnswers } = await import("./questions/answers.ts");
    return combine(() => true, voteOnAnswers);
  },
  "orders.create": async () => {
    const { canCombineOrder, createOrders } = await import("./orders/orders.ts");
    return combine(canCombineOrder, createOrders);
  },
  "products.massCreate": async () => {
    const { canCombine, createProducts } = await import("./products/products.ts");
    return combine(canCombine, createProducts);
  },
  "products.massUpdate": async () => {
    const { canCombine, updateProducts } = await import("./products/products.ts");
    return combine(canCombine, updateProducts);
  },
  "unsubscribers.massCreate": async () => {
    const { canCombineAddresses, createUnsubscribers } = await import("./unsubscribers/unsubscribers.ts");
    return combine(canCombineAddresses, createUnsubscribers);
  },
  "reviews.create": async () => {
    const { canCombineReviews, submitReviews } = await import("./reviews/reviews.ts");
    return combine(canCombineReviews, submitReviews);
  },
  "reviews.createNow": async () => {
    const { canCombineReviews, createReviewsNow } = await import("./reviews/reviews.ts");
    return combine(canCombineReviews, createReviewsNow);
  },
  "reviews.vote": async () => {
    const { voteOnReviews } = await import("./reviews/reviews.ts");
    return combine(() => true, voteOnReviews);
  },
};

const combined = new Map<OperationName, Promise<CombinedHandler>>();

export function findCombinedHandler(operation: OperationName): Promise<CombinedHandler> | undefined {
  const known = combined.get(operation);
  if (known) return known;
  const loading = combinedLoaders[operation]?.();
  if (loading) combined.set(operation, loading);
  return loading;
}
