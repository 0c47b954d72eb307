import {
  bottomLinesDelayMs,
  contract,
  type Endpoint,
  endpointOf,
  type GroupName,
  type OperationName,
} from "../contract/index.ts";
import type { OutputOf, Transport } from "../service/transport.ts";
import type { Transaction } from "kysely";
import type { Database } from "../storage/database.ts";
import type { Tables } from "../storage/tables.ts";
import { WriteQueue } from "../storage/write-queue.ts";
import { accountHandlers } from "./account.ts";
import { AnswerCache } from "./answer-cache.ts";
import { answerHandlers } from "./answers.ts";
import { hasDueChanges, showDueChanges } from "./bottom-lines.ts";
import { batchHandlers } from "./batch.ts";
import { groupHandlers } from "./groups.ts";
import { imageHandlers } from "./images.ts";
import { KnownAccounts } from "./known-accounts.ts";
import { linkHandlers } from "./links.ts";
import { mailEventHandlers } from "./mail-event-intake.ts";
import { requireSignature } from "./mail-event-keys.ts";
import { mailRuleHandlers } from "./mail-rules.ts";
import { mailSuppressionHandlers } from "./mail-suppressions.ts";
import { mailTemplateHandlers } from "./mail-templates.ts";
import { explainMails } from "./mail-why.ts";
import { mailHandlers } from "./mail.ts";
import { mailListHandlers } from "./mails.ts";
import { questionHandlers } from "./questions.ts";
import { reviewRequestHandlers } from "./review-requests.ts";
import { reviewHandlers } from "./reviews.ts";
import { seoHandlers } from "./seo.ts";
import { webhookDeliveryHandlers } from "./webhook-deliveries.ts";
import { webhookHandlers } from "./webhooks.ts";
import { authenticate } from "./authenticate.ts";
import { coreHandlers } from "./core.ts";
import { couponHandlers } from "./coupons.ts";
import type { Account, HandlerContext, Handlers, RandomBytes } from "./handler.ts";
import { hasNewOrders, noteOrderEmails } from "./order-emails.ts";
import { orderHandlers } from "./orders.ts";
import { hasWebhooks } from "./outbox.ts";
import { productHandlers } from "./products.ts";
import { createRateWindow } from "./rate-window.ts";
import { SavedProducts } from "./saved-products.ts";
import type { Sealer } from "./sealer.ts";
import { asRefusal } from "./storage-failure.ts";
import { tokenHandlers } from "./tokens.ts";
import { trackingHandlers } from "./tracking.ts";
import { unsubscriberHandlers } from "./unsubscribers.ts";
import { hashNewPassword, userHandlers } from "./users.ts";
import { validateInput } from "./validate.ts";

const handlers: { readonly [G in GroupName]: Handlers<(typeof contract)[G]> } = {
  account: accountHandlers,
  answers: answerHandlers,
  batch: batchHandlers,
  core: coreHandlers,
  coupons: couponHandlers,
  groups: groupHandlers,
  images: imageHandlers,
  links: linkHandlers,
  mail: mailHandlers,
  mailEvents: mailEventHandlers,
  mailRules: mailRuleHandlers,
  mailSuppressions: mailSuppressionHandlers,
  mailTemplates: mailTemplateHandlers,
  mails: { ...mailListHandlers, why: explainMails },
  orders: orderHandlers,
  products: productHandlers,
  questions: questionHandlers,
  reviewRequests: reviewRequestHandlers,
  reviews: reviewHandlers,
  seo: seoHandlers,
  tokens: tokenHandlers,
  tracking: trackingHandlers,
  unsubscribers: unsubscriberHandlers,
  users: userHandlers,
  webhookDeliveries: webhookDeliveryHandlers,
  webhooks: webhookHandlers,
};

/** What has to be written before a call can be answered; `isDue` tells, without writing, whether there is more. */
interface Preparation {
  readonly isDue: (context: HandlerContext) => Promise<boolean>;
  readonly write: (context: HandlerContext) => Promise<void>;
}

/** What webhooks are told of a review holds the order that its author's address leads to. */
const ordersOfEvents: Preparation = {
  isDue: async (context) => (await hasWebhooks(context)) && (await hasNewOrders(context)),
  write: noteOrderEmails,
};

const preparations: Readonly<Partial<Record<OperationName, Preparation>>> = {
  "links.follow": { isDue: hasNewOrders, write: noteOrderEmails },
  "reviews.bottomLines": { isDue: hasDueChanges, write: showDueChanges },
  "reviews.comment": ordersOfEvents,
  "reviews.create": ordersOfEvents,
  "reviews.createNow": ordersOfEvents,
  "reviews.setPublished": ordersOfEvents,
};

type Check = (input: unknown, context: HandlerContext) => Promise<void>;

/** What refuses a call that anybody may try, before it holds the write lock. */
const checks: Readonly<Partial<Record<OperationName, Check>>> = {
  "mailEvents.receive": (input, context) =>
    requireSignature(input as Parameters<typeof requireSignature>[0], context),
};

type Change = (input: unknown, run: Pick<HandlerContext, "random">) => Promise<unknown>;

/** What is done with a call's input before the call holds the write lock, since it takes long. */
const changes: Readonly<Partial<Record<OperationName, Change>>> = {
  "users.create": (input, run) => hashNewPassword(input as Parameters<typeof hashNewPassword>[0], run),
};

type AnyHandler = (input: unknown, context: HandlerContext) => Promise<unknown>;

const handlerOf: ReadonlyMap<string, AnyHandler> = new Map(
  Object.entries(handlers).flatMap(([group, verbs]) =>
    Object.entries(verbs).map(([verb, handler]): [string, AnyHandler] => [
      `${group}.${verb}`,
      handler as AnyHandler,
    ]),
  ),
);

export interface LocalTransportOptions {
  readonly database: Database;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly random: RandomBytes;
  readonly sealer: Sealer;
  /** Whether rate limits are kept. */
  readonly enforceLimits: boolean;
  /** Whether the calls of an account that have no limit in the specification are limited as well. */
  readonly limitLegacy?: boolean | undefined;
  /** Where the service is reached by everybody; asked for with each call, since a server learns it late. */
  readonly publicUrl?: (() => string) | undefined;
  /** How late the bottom lines of all products are, milliseconds; an hour where absent. */
  readonly bottomLinesDelayMs?: number | undefined;
  /** Whether webhooks may be of machines of the own network; not where absent. */
  readonly allowsPrivateWebhooks?: boolean | undefined;
}

/** Work on the database that no call asks for: what a worker does with the outbox. */
export interface EngineWork {
  /** Sees one state of the database. */
  readonly read: <T>(work: (context: HandlerContext) => Promise<T>) => Promise<T>;
  /** One transaction, under the write lock, after those of the calls that wait for it already. */
  readonly write: <T>(work: (context: HandlerContext) => Promise<T>) => Promise<T>;
}

/** The engine as a Transport, and for a worker. */
export interface LocalTransport extends Transport {
  readonly work: EngineWork;
}

/** Where `serve` listens by itself. */
const usualPublicUrl = "http://127.0.0.1:8080";

/**
 * Answers calls from the database: authenticate, validate, one transaction, handler.
 * Closing it closes the database.
 */
export function createLocalTransport(options: LocalTransportOptions): LocalTransport {
  const { database, clock } = options;
  const limiting = options.enforceLimits
    ? { window: createRateWindow(database, clock), limitLegacy: options.limitLegacy ?? false }
    : undefined;
  const known = new KnownAccounts();
  const shared = {
    writes: new WriteQueue(database.db),
    savedProducts: new SavedProducts(),
    answers: new AnswerCache(database),
  };
  return {
    call: async (operation, input, caller, { signal, onEvent, isChecked } = {}) => {
      signal?.throwIfAborted();
      const endpoint = endpointOf(operation);
      const nowMs = clock();
      try {
        const account = await authenticate(database, endpoint, caller, { nowMs, limiting, onEvent, known });
        const valid = validateInput(endpoint, input);
        const run = { ...options, ...shared, account, nowMs, isChecked };
        const given = (await changes[operation]?.(valid, run)) ?? valid;
        const found = await runHandler(operation, endpoint, given, run);
        return found as OutputOf<typeof operation>;
      } catch (error) {
        throw asRefusal(error, database.shownAs);
      }
    },
    work: createWork({ ...options, ...shared }, clock),
    close: () => database.db.destroy(),
  };
}

function createWork(shared: Omit<Run, "account" | "nowMs" | "isChecked">, clock: () => number): EngineWork {
  const now = (): Run => ({ ...shared, account: undefined, isChecked: undefined, nowMs: clock() });
  const wrap = async <T>(done: Promise<T>): Promise<T> => {
    try {
      return await done;
    } catch (error) {
      throw asRefusal(error, shared.database.shownAs);
    }
  };
  return {
    read: (work) => {
      const run = now();
      return wrap(read(run, (transaction) => work(createContext(transaction, run))));
    },
    write: (work) => {
      const run = now();
      return wrap(write(run, (transaction) => work(createContext(transaction, run))));
    },
  };
}

interface Run extends LocalTransportOptions {
  readonly writes: WriteQueue;
  readonly savedProducts: SavedProducts;
  readonly answers: AnswerCache;
  readonly isChecked: boolean | undefined;
  readonly account: Account | undefined;
  readonly nowMs: number;
}

async function runHandler(
  operation: OperationName,
  endpoint: Endpoint,
  input: unknown,
  run: Run,
): Promise<unknown> {
  const handler = handlerOf.get(operation);
  if (!handler) throw new Error(`no handler answers ${operation}`);
  const { savedProducts, answers } = run;
  const answer = (transaction: Transaction<Tables>) => handler(input, createContext(transaction, run));
  const check = checks[operation];
  if (check) await read(run, (transaction) => check(input, createContext(transaction, run)));
  await prepare(operation, run);
  if (endpoint.effect !== "read") {
    // What was saved is forgotten at once where the call fails, before the next one looks, and where its commit does.
    const forget = (error: unknown) => {
      savedProducts.forget();
      throw error;
    };
    return write(run, (transaction) => answer(transaction).catch(forget)).catch(forget);
  }
  return answers.read({ operation, accountId: run.account?.id, input }, () => read(run, answer));
}

/** In transactions of its own, with room for other calls between. */
async function prepare(operation: OperationName, run: Run): Promise<void> {
  const preparation = preparations[operation];
  if (!preparation) return;
  const { isDue, write: writeNext } = preparation;
  while (await read(run, (transaction) => isDue(createContext(transaction, run)))) {
    await write(run, (transaction) => writeNext(createContext(transaction, run)));
  }
}

function read<T>({ database }: Run, work: (transaction: Transaction<Tables>) => Promise<T>): Promise<T> {
  return database.db.transaction().setAccessMode("read only").execute(work);
}

async function write<T>(
  { writes, answers }: Run,
  work: (transaction: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  try {
    return await writes.run(work);
  } finally {
    answers.noteWrite();
  }
}

function createContext(transaction: Transaction<Tables>, run: Run): HandlerContext {
  const { database, savedProducts, account, nowMs, random, sealer, isChecked } = run;
  return {
    transaction,
    dialect: database.dialect,
    nowMs,
    random,
    sealer,
    savedProducts,
    isChecked,
    publicUrl: run.publicUrl?.() ?? usualPublicUrl,
    bottomLinesDelayMs: run.bottomLinesDelayMs ?? bottomLinesDelayMs,
    allowsPrivateWebhooks: run.allowsPrivateWebhooks,
    ...(account && { account }),
  };
}
