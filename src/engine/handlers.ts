import type { Contract, Endpoint, GroupName, OperationName } from "../contract/index.ts";
import { createOperation, type Handlers, type Operation } from "./kernel/handler.ts";

type Loaders = { readonly [G in GroupName]: () => Promise<Handlers<Contract[G]>> };

/** The handlers of every contract group, each loaded on first use, because most runs call operations of one group only. */
const loaders: Loaders = {
  account: async () => {
    const { createAccountHandlers } = await import("./accounts/platform.ts");
    return createAccountHandlers((await import("./reviews/publication.ts")).changePublication);
  },
  answers: async () => (await import("./questions/answers.ts")).answerHandlers,
  batch: async () => (await import("./storefront/batch.ts")).batchHandlers,
  brand: async () => (await import("./accounts/brand.ts")).brandHandlers,
  campaigns: async () => (await import("./emails/campaigns/campaigns.ts")).campaignHandlers,
  messages: async () => (await import("./accounts/messages.ts")).messageHandlers,
  core: async () => (await import("./products/core.ts")).coreHandlers,
  coupons: async () => (await import("./coupons/coupons.ts")).couponHandlers,
  credentials: async () => (await import("./accounts/account-credentials.ts")).credentialHandlers,
  customers: async () => (await import("./customers/customers.ts")).customerHandlers,
  emailEvents: async () => (await import("./emails/events/intake.ts")).emailEventHandlers,
  emailRules: async () => (await import("./emails/rules/rule-handlers.ts")).emailRuleHandlers,
  emailSuppressions: async () => (await import("./emails/events/suppressions.ts")).emailSuppressionHandlers,
  emailTemplates: async () => (await import("./emails/templates.ts")).emailTemplateHandlers,
  emails: async () => (await import("./emails/emails.ts")).emailHandlers,
  forms: async () => (await import("./storefront/forms.ts")).formHandlers,
  groups: async () => (await import("./groups/groups.ts")).groupHandlers,
  images: async () => (await import("./reviews/images.ts")).imageHandlers,
  links: async () => (await import("./emails/links.ts")).linkHandlers,
  myReviews: async () => (await import("./customers/my-reviews/my-reviews.ts")).myReviewHandlers,
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
  answerRequests: async () => (await import("./questions/answer-requests.ts")).answerRequestHandlers,
  questions: async () => (await import("./questions/questions.ts")).questionHandlers,
  reviewRequests: async () => (await import("./reviews/requests/review-requests.ts")).reviewRequestHandlers,
  reviewRules: async () => (await import("./reviews/moderation/rules.ts")).reviewRuleHandlers,
  reviews: async () => (await import("./reviews/reviews.ts")).reviewHandlers,
  seo: async () => (await import("./storefront/seo.ts")).seoHandlers,
  storefront: async () => (await import("./storefront/storefront.ts")).storefrontHandlers,
  tokens: async () => (await import("./accounts/tokens.ts")).tokenHandlers,
  tracking: async () => (await import("./emails/events/tracking.ts")).trackingHandlers,
  unsubscribers: async () => (await import("./unsubscribers/unsubscribers.ts")).unsubscriberHandlers,
  users: async () => (await import("./accounts/users.ts")).userHandlers,
  webhookDeliveries: async () => (await import("./webhooks/deliveries.ts")).webhookDeliveryHandlers,
  webhooks: async () => (await import("./webhooks/webhooks.ts")).webhookHandlers,
};

const loading = new Map<GroupName, Promise<Readonly<Record<string, Operation>>>>();

export async function findOperation(name: OperationName): Promise<Operation> {
  const [group, verb] = name.split(".") as [GroupName, string];
  const found = (await loadGroup(group))[verb];
  if (!found) throw new Error(`no handler for ${name}`);
  return found;
}

/**
 * Loads all handlers. A long-running process needs this because an update may replace the program's files, and a caller
 * that depends on the order of its first calls because loading could reorder them.
 */
export async function loadHandlers(): Promise<void> {
  await Promise.all(Object.keys(loaders).map((group) => loadGroup(group as GroupName)));
}

function loadGroup(name: GroupName): Promise<Readonly<Record<string, Operation>>> {
  const known = loading.get(name);
  if (known) return known;
  const started = loaders[name]().then((handlers) => toOperations(handlers as Handlers<Record<string, Endpoint>>));
  loading.set(name, started);
  return started;
}

function toOperations(handlers: Handlers<Record<string, Endpoint>>): Readonly<Record<string, Operation>> {
  return Object.fromEntries(
    Object.entries(handlers).map(([verb, handler]) => [
      verb,
      typeof handler === "function" ? createOperation({ run: handler }) : handler,
    ]),
  );
}
