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

/** Webhook events include the order of the review's author, which is looked up by email address. */
async function indexBuyersForWebhooks(): Promise<Preparation> {
  const { hasWebhooks } = await import("./kernel/outbox.ts");
  const { isDue, write } = await indexBuyers();
  return { isDue: async (context) => (await hasWebhooks(context)) && (await isDue(context)), write };
}

/** A past review causes no webhook events. */
async function indexBuyersForNewReview(input: unknown, account: Account | undefined): Promise<Preparation | undefined> {
  const { isPastReview } = await import("./reviews/reviews.ts");
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
  "links.follow": indexBuyers,
  "reviews.bottomLines": applyBottomLineChanges,
  "reviews.comment": indexBuyersForWebhooks,
  "reviews.create": indexBuyersForWebhooks,
  "reviews.createNow": indexBuyersForNewReview,
  "reviews.setPublished": indexBuyersForWebhooks,
};

type Check = (input: unknown, context: HandlerContext) => Promise<void>;

/** Checks a call without an app key by the account that it concerns. */
const requireActive =
  (findAccount: AccountFinder): Check =>
  async (input, context) => {
    const { requireActiveAccount } = await import("./accounts/active-account.ts");
    return requireActiveAccount(findAccount, input as Readonly<Record<string, string | number>>, context);
  };

const checkSecret: Check = async (input, context) => {
  const { requireSecret } = await import("./accounts/account-secret.ts");
  return requireSecret((input as { readonly secret: string }).secret, context);
};

/** Checks that reject calls before their input is transformed and before they take the write lock. */
export const checks: Readonly<Partial<Record<OperationName, Check>>> = {
  "answers.vote": requireActive({ table: "answers", field: "answer_id" }),
  "core.createToken": checkSecret,
  "emailEvents.receive": async (input, context) => {
    const { requireSignature } = await import("./emails/events/signing-keys.ts");
    return requireSignature(input as Parameters<typeof requireSignature>[0], context);
  },
  "images.get": requireActive({ table: "review_images", field: "image_id" }),
  "images.upload": requireActive({ claim: "image_upload_token" }),
  "links.follow": requireActive({ claim: "token", exceptKind: "unsubscribe" }),
  "links.show": requireActive({ claim: "token", exceptKind: "unsubscribe" }),
  "reviewRequests.show": requireActive({ claim: "token" }),
  "reviewRequests.write": requireActive({ claim: "token" }),
  "reviews.get": requireActive({ table: "reviews", field: "review_id" }),
  "reviews.vote": requireActive({ table: "reviews", field: "review_id" }),
  "tokens.create": requireActive({ appKey: "client_id" }),
  "tracking.click": requireActive({ claim: "token" }),
  "tracking.open": requireActive({ claim: "token" }),
  "users.create": async (input, context) => {
    const { requireSignUp } = await import("./accounts/invitations.ts");
    const { user } = input as { readonly user: { readonly invitation_code?: string } };
    return requireSignUp(user.invitation_code, context);
  },
  "users.get": requireActive({ table: "users", field: "user_id" }),
  "users.signIn": checkSecret,
  "users.signedIn": requireActive({ claim: "code" }),
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

type Completion = (output: unknown, input: unknown, account: Account | undefined) => Promise<unknown>;

/** Slow transformations of the output that run after the transaction. */
export const completions: Readonly<Partial<Record<OperationName, Completion>>> = {
  "emails.get": async (output) => {
    const { renderFoundEmail } = await import("./emails/emails.ts");
    return renderFoundEmail(output as Parameters<typeof renderFoundEmail>[0]);
  },
  "emailTemplates.preview": async (stored, given, account) => {
    const { renderPreview } = await import("./emails/templates.ts");
    const [input, output] = [given, stored] as unknown as Parameters<typeof renderPreview>;
    return renderPreview(input, output, account);
  },
};
