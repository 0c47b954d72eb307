import type { Random } from "../../fuzz/random.ts";
import { type AccountClient, type LoadedAccount, record, type RecordKind } from "./client.ts";

/** What a call of the load needs. */
export interface LoadStep {
  readonly account: LoadedAccount;
  readonly client: AccountClient;
  readonly random: Random;
  /** Returns a key that no other call has. */
  readonly newKey: () => string;
  /** Returns tokens of confirmation links in emails that the account has queued lately. */
  readonly readConfirmations: () => Promise<readonly { readonly token: string; readonly questionId: number }[]>;
}

type LoadCall = (step: LoadStep) => Promise<unknown>;

/** The number of products, `p0` and so on, that the calls refer to. */
export const productCount = 20;
/** Few, so that updates of one row meet. They stay published, because nobody can vote on a hidden review. */
const reviewsToVoteOn = 5;
const today = () => new Date().toISOString().slice(0, 10);
const url = "https://shop.example/product";

function create<T>(
  { account, newKey }: LoadStep,
  kind: RecordKind,
  call: (key: string, options: Parameters<Parameters<typeof record<T>>[2]>[0]) => Promise<T>,
): Promise<T | undefined> {
  const key = `${kind.replace(" ", "-")}-${newKey()}`;
  return record(account.ledgers[kind], key, (options) => call(key, options));
}

function aReview(random: Random, key: string) {
  return {
    sku: `p${random.below(productCount)}`,
    product_title: "Product",
    product_url: url,
    display_name: "Ann Smith",
    email: `${key}@mail.example`,
    review_title: key,
    review_content: "It does what it says.",
    review_score: 1 + random.below(5),
  };
}

const createOrder: LoadCall = (step) =>
  create(step, "orders", (key, options) => {
    const skus = Array.from({ length: 1 + step.random.below(2) }, () => `p${step.random.below(productCount)}`);
    const product = { name: "Product", url, image: "", price: "10.00" };
    return step.client.store.orders.create(
      {
        order_id: key,
        platform: "general",
        email: `${key}@mail.example`,
        customer_name: "Ann Smith",
        order_date: today(),
        validate_data: true,
        products: Object.fromEntries(skus.map((sku) => [sku, product])),
      },
      options,
    );
  });

const importReview: LoadCall = async (step) => {
  const { store } = step.client;
  const past = { created_at: "2026-01-02T10:00:00.000Z" };
  const created = await create(step, "reviews", (key, options) =>
    store.reviews.createNow({ ...aReview(step.random, key), past }, options),
  );
  step.account.reviewIds.push(...(created?.reviews ?? []).map(({ id }) => id));
};

const writeReview: LoadCall = (step) =>
  create(step, "public reviews", (key, options) =>
    step.client.shopper.reviews.create(aReview(step.random, key), options),
  );

const voteOnReview: LoadCall = async (step) => {
  const { reviewIds, ledgers } = step.account;
  if (reviewIds.length === 0) return;
  const review_id = step.random.pick(reviewIds.slice(0, reviewsToVoteOn));
  const vote_type = step.random.chance(0.7) ? "up" : "down";
  await recordVote(ledgers["review votes"], step, (options) =>
    step.client.shopper.reviews.vote({ review_id, vote_type }, options),
  );
};

const voteOnAnswer: LoadCall = async (step) => {
  const { answerIds, ledgers } = step.account;
  if (answerIds.length === 0) return;
  const answer_id = step.random.pick(answerIds);
  await recordVote(ledgers["answer votes"], step, (options) =>
    step.client.shopper.answers.vote({ answer_id, vote_type: "up" }, options),
  );
};

/** Votes have no key of the client, so an acknowledged one is known by its ID. */
async function recordVote(
  ledger: LoadedAccount["ledgers"][RecordKind],
  { newKey }: LoadStep,
  call: (options: object) => Promise<{ readonly vote: { readonly id: number } }>,
): Promise<void> {
  const key = newKey();
  const voted = await record(ledger, key, call);
  if (!voted) return;
  ledger.acknowledged.delete(key);
  ledger.acknowledged.add(String(voted.vote.id));
}

const createProducts: LoadCall = (step) =>
  create(step, "products", (key, options) =>
    step.client.store.products.massCreate(
      { products: { [key]: { name: key, url }, [`p${step.random.below(productCount)}`]: { name: "Product", url } } },
      options,
    ),
  );

const unsubscribe: LoadCall = (step) =>
  create(step, "unsubscribers", (key, options) =>
    step.client.store.unsubscribers.massCreate({ email_list: { "1": [`${key}@mail.example`] } }, options),
  );

const ask: LoadCall = (step) =>
  create(step, "questions", (key, options) =>
    step.client.shopper.questions.sendConfirmation(
      {
        review_content: key,
        display_name: "Ann Asker",
        email: `${key}@mail.example`,
        product_id: `p${step.random.below(productCount)}`,
        product_title: "Product",
        product_url: url,
      },
      options,
    ),
  );

const confirmQuestion: LoadCall = async (step) => {
  const found = await step.readConfirmations();
  if (found.length === 0) return;
  const { token, questionId } = step.random.pick(found);
  await step.client.shopper.links.follow({ token });
  step.account.questionIds.push(questionId);
};

const answer: LoadCall = async (step) => {
  const { questionIds, answerIds } = step.account;
  if (questionIds.length === 0) return;
  const question_id = step.random.pick(questionIds);
  const created = await create(step, "answers", (key, options) =>
    step.client.store.answers.create({ question_id, content: key }, options),
  );
  if (created) answerIds.push(created.answer.id);
};

const moderate: LoadCall = async (step) => {
  const hideable = step.account.reviewIds.slice(reviewsToVoteOn);
  if (hideable.length === 0) return;
  const review_id = step.random.pick(hideable);
  await step.client.store.reviews.setPublished({ review_id, published: step.random.chance(0.6), reason: "load" });
};

const moveProduct: LoadCall = async (step) => {
  const list = [`p${step.random.below(5)}`];
  const isAdded = step.random.chance(0.5);
  await step.client.store.groups.update({
    group_name: "Group",
    product_ids_to_add: isAdded ? list : [],
    product_ids_to_remove: isAdded ? [] : list,
  });
};

const read: LoadCall = async (step) => {
  const { shopper, store } = step.client;
  const product_id = `p${step.random.below(productCount)}`;
  const reads = [
    () => shopper.reviews.widget({ product_id }),
    () => shopper.reviews.bottomLine({ product_id }),
    () => shopper.reviews.bottomLines({}),
    () => shopper.questions.list({ sku: product_id }),
    () => store.orders.list({}),
  ];
  await step.random.pick(reads)();
};

/** The calls of the load, each as often as its weight. */
const weights: readonly (readonly [LoadCall, number])[] = [
  [createOrder, 30],
  [importReview, 10],
  [writeReview, 4],
  [voteOnReview, 12],
  [voteOnAnswer, 3],
  [createProducts, 5],
  [unsubscribe, 6],
  [ask, 4],
  [confirmQuestion, 3],
  [answer, 3],
  [moderate, 4],
  [moveProduct, 1],
  [read, 15],
];

const deck = weights.flatMap(([call, weight]) => Array.from({ length: weight }, () => call));

/** Makes one random call. */
export function makeCall(step: LoadStep): Promise<unknown> {
  return step.random.pick(deck)(step);
}
