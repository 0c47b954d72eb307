import type { EndpointOf, OperationName } from "../contract/index.ts";
import type { Database } from "../storage/database.ts";
import type { AccountFinder } from "./accounts/active-account.ts";
import type { Account, HandlerContext } from "./kernel/handler.ts";

/** Writes that must happen before a call. `isDue` checks, without writing, whether any are left. */
export interface Preparation {
  readonly isDue: (context: HandlerContext) => Promise<boolean>;
  readonly write: (context: HandlerContext) => Promise<void>;
}

async function indexBuyers(): Promise<Preparation> {
  const { hasUnindexedOrders, indexOrderEmails } = await import("./orders/buyer-lookup.ts");
  return { isDue: hasUnindexedOrders, write: indexOrderEmails };
}

async function indexBuyersOfSearch(input: unknown): Promise<Preparation | undefined> {
  const { email } = input as EndpointOf<"orders.search">["input"]["_output"];
  return email === undefined ? undefined : indexBuyers();
}

/** Webhook events include the order of the review's author, which is looked up by email address. */
async function indexBuyersForWebhooks(): Promise<Preparation> {
  const { hasWebhooks } = await import("./kernel/outbox.ts");
  const { isDue, write } = await indexBuyers();
  return { isDue: async (context) => (await hasWebhooks(context)) && (await isDue(context)), write };
}

/** Imported once, because an import of many past reviews makes a call for each. */
let reviews: Promise<typeof import("./reviews/reviews.ts")> | undefined;

/** A past review causes no webhook events. */
async function indexBuyersForNewReview(input: unknown, account: Account | undefined): Promise<Preparation | undefined> {
  reviews ??= import("./reviews/reviews.ts");
  const { isPastReview } = await reviews;
  const isPast = account && isPastReview(input as Parameters<typeof isPastReview>[0], account);
  return isPast ? undefined : indexBuyersForWebhooks();
}

async function applyBottomLineChanges(): Promise<Preparation> {
  const { hasDueChanges, applyDueChanges } = await import("./reviews/bottom-line-changes.ts");
  return { isDue: hasDueChanges, write: applyDueChanges };
}

async function changePublication(input: unknown): Promise<Preparation> {
  const { createPublicationChange } = await import("./reviews/publication.ts");
  const { published_reviews } = input as EndpointOf<"account.set">["input"]["_output"];
  return createPublicationChange(published_reviews);
}

type CreatePreparation = (input: unknown, account: Account | undefined) => Promise<Preparation | undefined>;

export const preparations: Readonly<Partial<Record<OperationName, CreatePreparation>>> = {
  "account.set": changePublication,
  "customers.erase": indexBuyers,
  "customers.export": indexBuyers,
  "customers.get": indexBuyers,
  "customers.planErasure": indexBuyers,
  "links.follow": indexBuyers,
  "orders.search": indexBuyersOfSearch,
  "reviews.bottomLines": applyBottomLineChanges,
  "reviews.comment": indexBuyersForWebhooks,
  "reviews.create": indexBuyersForWebhooks,
  "reviews.createNow": indexBuyersForNewReview,
  "reviews.deleteComment": indexBuyersForWebhooks,
  "reviews.editComment": indexBuyersForWebhooks,
  "reviews.queue": indexBuyers,
  "reviews.requeue": indexBuyersForWebhooks,
  "reviews.setPublished": indexBuyersForWebhooks,
};

type Check = (input: unknown, context: HandlerContext) => Promise<void>;

/** Where calls without an app key name the account that they concern. */
export const accountFinders: Readonly<Partial<Record<OperationName, AccountFinder>>> = {
  "answers.vote": { kind: "answer", field: "answer_id" },
  "images.get": { kind: "image", field: "image_id" },
  "images.upload": { claim: "image_upload_token" },
  "links.follow": { claim: "token", exceptKind: "unsubscribe" },
  "links.show": { claim: "token", exceptKind: "unsubscribe" },
  "reviewRequests.show": { claim: "token" },
  "reviewRequests.write": { claim: "token" },
  "reviews.get": { kind: "review", field: "review_id" },
  "reviews.vote": { kind: "review", field: "review_id" },
  "tokens.create": { appKey: "client_id" },
  "tracking.click": { claim: "token" },
  "tracking.open": { claim: "token" },
  "users.get": { kind: "user", field: "user_id" },
  "users.signedIn": { claim: "code" },
};

const checkSecret: Check = async (input, context) => {
  const { requireSecret } = await import("./accounts/account-secret.ts");
  return requireSecret((input as { readonly secret: string }).secret, context);
};

/** Checks that reject calls before their input is transformed and before they take the write lock. */
export const checks: Readonly<Partial<Record<OperationName, Check>>> = {
  "core.createToken": checkSecret,
  "emailEvents.receive": async (input, context) => {
    const { requireSignature } = await import("./emails/events/signing-keys.ts");
    return requireSignature(input as Parameters<typeof requireSignature>[0], context);
  },
  "users.create": async (input, context) => {
    const { requireSignUp } = await import("./accounts/invitations.ts");
    const { user } = input as { readonly user: { readonly invitation_code?: string } };
    return requireSignUp(user.invitation_code, context);
  },
  "users.signIn": checkSecret,
};

type Run = Pick<HandlerContext, "random" | "sealer" | "nowMs" | "isChecked"> & {
  readonly account: Account | undefined;
  readonly database: Database;
};
type Transform = (input: unknown, run: Run) => Promise<unknown>;

/** Slow transformations of the input that run before the call takes the write lock. */
export const transforms: Readonly<Partial<Record<OperationName, Transform>>> = {
  "emailTemplates.set": async (input, { account }) => {
    const { checkNewTemplate } = await import("./emails/templates.ts");
    return checkNewTemplate(input as Parameters<typeof checkNewTemplate>[0], account);
  },
  "images.upload": async (input, run) => {
    const { prepareImage } = await import("./reviews/images.ts");
    return prepareImage(input as Parameters<typeof prepareImage>[0], run);
  },
  "orders.massCreate": async (input, { isChecked, database }) => {
    // Where calls run in order, a small one must not overtake a large one.
    if (database.dialect.runsInOrder) return input;
    const { checkOrdersEarly } = await import("./orders/orders.ts");
    await checkOrdersEarly(input as Parameters<typeof checkOrdersEarly>[0], isChecked);
    return input;
  },
  "users.create": async (input, run) => {
    const { hashNewPassword } = await import("./accounts/users.ts");
    return hashNewPassword(input as Parameters<typeof hashNewPassword>[0], run);
  },
};

type Preload = (input: unknown, context: HandlerContext) => Promise<void>;

/** Reads of a call with an idempotency key that take place while the key is looked up. */
export const preloads: Readonly<Partial<Record<OperationName, Preload>>> = {
  "orders.massCreate": async (input, context) => {
    const { preloadOrders } = await import("./orders/orders.ts");
    await preloadOrders(input as Parameters<typeof preloadOrders>[0], context);
  },
};

type Completion = (
  output: unknown,
  input: unknown,
  from: {
    readonly account: Account | undefined;
    readonly database: Database;
    readonly onErased?: ((mailIds: readonly number[]) => Promise<void>) | undefined;
  },
) => Promise<unknown>;

/** Slow transformations of the output, and other work, that run after the transaction. */
export const completions: Readonly<Partial<Record<OperationName, Completion>>> = {
  "customers.erase": async (output, _input, from) => {
    const { removeErased } = await import("./customers/customers.ts");
    return removeErased(output as Parameters<typeof removeErased>[0], from);
  },
  "emails.get": async (output) => {
    const { renderFoundEmail } = await import("./emails/emails.ts");
    return renderFoundEmail(output as Parameters<typeof renderFoundEmail>[0]);
  },
  "emailTemplates.preview": async (stored, given, { account }) => {
    const { renderPreview } = await import("./emails/templates.ts");
    const [input, output] = [given, stored] as unknown as Parameters<typeof renderPreview>;
    return renderPreview(input, output, account);
  },
};
