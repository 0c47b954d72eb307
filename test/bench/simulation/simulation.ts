import { type CpuTime, cpuTimeOf, type Measured, statementsOf, sustainedBy } from "./measured.ts";

/** What a reader can change, with defaults. */
export const assumptions = {
  shops: { default: 10_000, min: 1, help: "number of shops" },
  orders: { default: 10, help: "orders per shop and day" },
  emails: { default: 1, help: "emails per order" },
  reviews: { default: 0.05, help: "reviews per order" },
  votes: { default: 2, help: "votes per shop and day" },
  questions: { default: 0.1, help: "questions per shop and day" },
  views: { default: 1_000, help: "product pages shown per shop and day, each with the reviews of the product" },
  cdn: { default: 90, max: 100, help: "share of reads that a CDN or browsers answer, in percent; 0 without a CDN" },
  peak: { default: 4, min: 1, help: "the busiest hour, relative to the mean" },
  use: { default: 50, min: 1, max: 100, help: "share of the CPU to use in the busiest hour, in percent" },
  cores: { default: 16, min: 1, help: "cores of a PostgreSQL server" },
  disk: { default: 4, min: 0.001, help: "terabytes of a PostgreSQL server" },
  years: { default: 3, min: 1, help: "years that data is kept" },
  largest: { default: 1, max: 100, help: "share of the largest shop in all orders, emails, and reads, in percent" },
  lost: { default: 1, help: "servers of each kind that can be lost at a time" },
} as const satisfies Readonly<Record<string, Assumption>>;

interface Assumption {
  readonly default: number;
  readonly help: string;
  /** Default: 0. */
  readonly min?: number;
  readonly max?: number;
}

export type Assumptions = Readonly<Record<keyof typeof assumptions, number>>;

/**
 * Reads the value of a flag, or its default.
 * @throws Error if the value is not valid
 */
export function readAssumption(name: keyof Assumptions, text: string | undefined): number {
  const { default: usual, min = 0, max = Infinity }: Assumption = assumptions[name];
  if (text === undefined) return usual;
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (value >= min && value <= max && value < Infinity) return value;
  const range = max === Infinity ? `of at least ${min}` : `from ${min} to ${max}`;
  throw new Error(`invalid value "${text}" for --${name}: must be a number ${range}`);
}

/** What a number of shops needs. */
export interface Plan {
  readonly shops: number;
  /** In the busiest hour, in calls per second. */
  readonly ordersPerSecond: number;
  readonly emailsPerSecond: number;
  /** Of all reads, those that reach a server. */
  readonly readsPerSecond: number;
  readonly cachedReadsPerSecond: number;
  readonly statementsPerSecond: number;
  /** Of these, what the workers of all servers ask although nothing is due. */
  readonly pollsPerSecond: number;
  /** Cores that are busy in the busiest hour. */
  readonly serverCores: number;
  readonly postgresCores: number;
  readonly gigabytesPerYear: number;
  readonly gigabytes: number;
  /** `starpost serve` processes, of one core each, including those that can be lost. */
  readonly servers: number;
  /** Without standbys; undefined if the largest shop needs more than one server, because its rows cannot be divided. */
  readonly postgresServers: number | undefined;
  /** Servers that take over from lost ones. */
  readonly standbys: number | undefined;
  readonly largest: {
    /** In the busiest hour. */
    readonly ordersPerSecond: number;
    /** Of the orders per second that are sustained for one account, in percent. */
    readonly used: number;
    readonly gigabytes: number;
  };
}

/** A kind of work: how often, and what it takes. */
interface Work extends CpuTime {
  readonly perSecond: number;
  readonly statements: number;
}

const secondsPerDay = 86_400;

/** Computes what shops need from measured figures. */
export function simulate(given: Assumptions, measured: Measured): Plan {
  const perSecond = (perShopAndDay: number) => (given.shops * perShopAndDay * given.peak) / secondsPerDay;
  const all = listWork(given, measured, perSecond);
  const sum = (pick: (work: Work) => number) => Object.values(all).reduce((total, work) => total + pick(work), 0);
  const cores = (pick: (work: Work) => number) => sum((work) => (work.perSecond * pick(work)) / 1_000);
  const [serverCores, postgresCores] = [cores((work) => work.serverMs), cores((work) => work.postgresMs)];
  const { costs } = measured;
  const bytesPerDay =
    given.orders * (costs.order.bytes + given.emails * costs.sentEmail.bytes + given.reviews * costs.review.bytes);
  const gigabytesPerYear = (given.shops * bytesPerDay * 365) / 1e9;
  const gigabytes = gigabytesPerYear * given.years;
  const share = given.use / 100;
  const servers = Math.max(1, Math.ceil(serverCores / share)) + given.lost;
  const pollsPerSecond = servers * statementsOf(measured, "an idle server, in a second");
  const largest = Math.max(given.largest / 100, 1 / given.shops);
  const needed = Math.max(postgresCores / share / given.cores, gigabytes / (given.disk * 1_000));
  const postgresServers = countServers(needed, largest);
  const largestOrders = all.orders.perSecond * largest;
  return {
    shops: given.shops,
    ordersPerSecond: all.orders.perSecond,
    emailsPerSecond: all.emails.perSecond,
    readsPerSecond: all.reads.perSecond,
    cachedReadsPerSecond: perSecond(given.views) - all.reads.perSecond,
    statementsPerSecond: pollsPerSecond + sum((work) => work.perSecond * work.statements),
    pollsPerSecond,
    serverCores,
    postgresCores,
    gigabytesPerYear,
    gigabytes,
    servers,
    postgresServers,
    standbys: postgresServers && postgresServers * given.lost,
    largest: {
      ordersPerSecond: largestOrders,
      used: (100 * largestOrders) / sustainedBy(measured, "orders, 1 account, 1 server"),
      gigabytes: gigabytes * largest,
    },
  };
}

/**
 * The number of servers of which none has too much. All rows of a shop are on one server, which also has its share of all
 * others.
 * @param needed what all shops need, in servers
 * @param largest the share of the largest shop
 */
function countServers(needed: number, largest: number): number | undefined {
  if (needed <= 1) return 1;
  const free = 1 - needed * largest;
  return free > 0 ? Math.ceil((needed * (1 - largest)) / free) : undefined;
}

function listWork(given: Assumptions, measured: Measured, perSecond: (perShopAndDay: number) => number) {
  const { costs } = measured;
  const single = cpuTimeOf(measured, "orders, 16 accounts, 2 servers");
  const order = "create an order";
  /** CPU times of a call that were not measured follow from those of an order, by the number of statements. */
  const likeOrder = (perShopAndDay: number, call: string): Work => {
    const statements = statementsOf(measured, call);
    const relative = statements / statementsOf(measured, order);
    return {
      perSecond: perSecond(perShopAndDay),
      statements,
      serverMs: single.serverMs * relative,
      postgresMs: single.postgresMs * relative,
    };
  };
  const orders = likeOrder(given.orders, order);
  return {
    orders,
    reviews: likeOrder(given.orders * given.reviews, "create a review"),
    votes: likeOrder(given.votes, "vote on a review"),
    questions: likeOrder(given.questions, "ask a question"),
    emails: {
      perSecond: perSecond(given.orders * given.emails),
      statements: statementsOf(measured, "send an email"),
      serverMs: costs.sentEmail.serverMs,
      postgresMs: costs.sentEmail.postgresMs,
    },
    reads: {
      perSecond: perSecond(given.views) * (1 - given.cdn / 100),
      statements: statementsOf(measured, "show the reviews of a product"),
      ...cpuTimeOf(measured, "widget reads, 16 accounts, 2 servers"),
    },
  } satisfies Record<string, Work>;
}
