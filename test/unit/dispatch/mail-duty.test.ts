import { describe, expect, it } from "vitest";
import { EmailJob } from "../../../src/worker/email-job.ts";
import type { Claim, ClaimedEmail } from "../../../src/engine/emails/sending/claims.ts";
import type { EndedEmail, EmailQueue } from "../../../src/engine/emails/sending/email-queue.ts";
import { ComposeError } from "../../../src/email/transports/mime-message.ts";
import type { ComposedMessage, SendOutcome } from "../../../src/email/transports/transport.ts";
import type { OutgoingEmail } from "../../../src/email/outgoing-email.ts";
import { runWorker } from "../../../src/worker/worker.ts";
import { settle, VirtualTime } from "../../support/virtual-time.ts";

const leaseMs = 60_000;
const accepted: SendOutcome = { state: "accepted", answer: "250 ok" };
const nobody = new AbortController().signal;

function mailOf(id: number): OutgoingEmail {
  return {
    id,
    accountId: 1,
    category: "map",
    to: { address: `p${id}@mail.example`, name: "P" },
    store: { name: "Shop", url: null },
    data: {},
    unsubscribeUrl: "https://reviews.example/u",
    key: `${id}-key`,
  };
}

type Outcomes = readonly EndedEmail[];

/** A queue in memory, whose mails are all due. */
class Queue implements EmailQueue {
  readonly waiting: ClaimedEmail[];
  readonly ended: EndedEmail[] = [];
  readonly begun: number[] = [];
  renewals = 0;
  released = 0;
  claims = 0;
  refuses: number | undefined;
  #held: ClaimedEmail[] = [];

  constructor(mails: readonly ClaimedEmail[]) {
    this.waiting = [...mails];
  }

  async claim(limit: number): Promise<Claim> {
    this.claims += 1;
    this.#held = this.waiting.splice(0, limit);
    return { mails: this.#held, notSent: [], recovered: 0 };
  }

  async step(ended: Outcomes, nextId?: number) {
    if (ended.length === 0 && nextId === undefined) return { fates: [], hasBegun: false };
    this.ended.push(...ended);
    for (const { id, outcome } of ended) {
      const held = this.#held.find(({ mail }) => mail.id === id);
      this.#held = this.#held.filter((other) => other !== held);
      if (held && outcome.state === "unreachable") this.waiting.unshift(held);
    }
    const hasBegun = nextId !== undefined && nextId !== this.refuses;
    if (hasBegun) this.begun.push(nextId);
    else this.#held = this.#held.filter(({ mail }) => mail.id !== nextId);
    const fates = ended.map(({ outcome: { state } }) =>
      state === "accepted" ? "sent" : state === "unreachable" ? "waiting" : "failed",
    );
    return { fates, hasBegun } as const;
  }

  async renew() {
    this.renewals += 1;
  }

  async release() {
    const count = this.#held.length;
    this.released += count;
    this.waiting.push(...this.#held.splice(0));
    this.waiting.sort((one, other) => one.mail.id - other.mail.id);
    return count;
  }

  async nextDueAt() {
    return this.waiting.length > 0 ? 0 : undefined;
  }
}

interface Said {
  readonly level: string;
  readonly about: Record<string, unknown>;
  readonly words: string;
}

function open(
  mails: readonly (number | ClaimedEmail)[],
  settings: {
    readonly send?: (message: ComposedMessage, time: VirtualTime) => Promise<SendOutcome>;
    readonly wasSent?: (key: string) => Promise<boolean>;
    readonly compose?: (mail: OutgoingEmail) => Promise<ComposedMessage>;
  } = {},
) {
  const time = new VirtualTime();
  const queue = new Queue(mails.map((mail) => (typeof mail === "number" ? { mail: mailOf(mail) } : mail)));
  const said: Said[] = [];
  const say =
    (level: string) =>
    (about: unknown, words = "") => {
      const isWords = typeof about === "string";
      said.push({ level, about: isWords ? {} : (about as Said["about"]), words: isWords ? about : words });
    };
  const log = { debug: say("debug"), info: say("info"), warn: say("warn"), error: say("error") } as never;
  const sent: string[] = [];
  const { send = async () => accepted, wasSent } = settings;
  const surroundings = { clock: time.clock, sleep: time.sleep, log };
  const compose = async ({ key, to }: OutgoingEmail): Promise<ComposedMessage> => ({
    key,
    to: to.address,
    from: "shop@shop.example",
    subject: "Well?",
    messageId: `<${key}@shop.example>`,
    raw: Buffer.from("text"),
  });
  const duty = new EmailJob({
    ...surroundings,
    work: queue,
    transport: {
      send: async (message) => {
        sent.push(message.key);
        return send(message, time);
      },
      ...(wasSent && { wasSent }),
      check: async () => ({ ready: true }),
      close: async () => {},
      describe: () => "nowhere",
    },
    compose: settings.compose ?? compose,
    leaseMs,
  });
  return { time, queue, said, sent, duty, surroundings, compose };
}

/** Lets virtual time pass until something is done. */
async function within<T>(time: VirtualTime, work: Promise<T>): Promise<T> {
  const progress = { isDone: false };
  const done = work.finally(() => (progress.isDone = true));
  while (!progress.isDone) await time.run(time.clock() + 1_000);
  return done;
}

const none = { sent: 0, not_sent: 0, deferred: 0, bounced: 0, failed: 0 };

describe("sending what is due", () => {
  it("hands over one mail after another, each begun before and written down after", async () => {
    const { time, queue, sent, duty, said } = open([1, 2, 3]);
    expect(await within(time, duty.runDue(nobody))).toEqual({
      counts: { ...none, sent: 3 },
      problem: undefined,
    });
    expect(sent).toEqual(["1-key", "2-key", "3-key"]);
    expect(queue.begun).toEqual([1, 2, 3]);
    expect(queue.ended.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(said.map(({ words }) => words)).toEqual(["sent", "sent", "sent"]);
    expect(JSON.stringify(said)).not.toContain("@");
  });

  it("renews leases while one mail takes longer than a lease", async () => {
    const { time, queue, duty } = open([1, 2], {
      send: async (_message, virtual) => {
        await virtual.sleep(5 * leaseMs);
        return accepted;
      },
    });
    const { counts } = await within(time, duty.runDue(nobody));
    expect(queue.renewals).toBeGreaterThanOrEqual(2 * 5 * 2);
    expect(counts.sent).toBe(2);
    // After such a time the rules of the second are asked again.
    expect(queue.claims).toBe(3);
    expect(queue.released).toBe(1);
  });

  it("finishes the mail in flight when it is stopped, and gives the others back", async () => {
    const { time, queue, sent, duty } = open([1, 2, 3], {
      send: async (_message, virtual) => {
        await virtual.sleep(10_000);
        return accepted;
      },
    });
    const stop = new AbortController();
    const running = duty.runDue(stop.signal);
    await time.run(5_000);
    stop.abort();
    const { counts } = await within(time, running);
    expect([sent, counts.sent, queue.released]).toEqual([["1-key"], 1, 2]);
    expect(queue.waiting.map(({ mail }) => mail.id)).toEqual([2, 3]);
  });

  it("leaves a mail alone that is not its own any more", async () => {
    const { time, queue, sent, duty } = open([1, 2]);
    queue.refuses = 1;
    expect((await within(time, duty.runDue(nobody))).counts.sent).toBe(1);
    expect(sent).toEqual(["2-key"]);
  });

  it("goes on after a mail that cannot be composed", async () => {
    const { time, queue, duty } = open([1, 2, 3], {
      compose: async (mail) => {
        if (mail.id === 1) throw new ComposeError("failed", "line 3: tag is not closed");
        if (mail.id === 2) throw new ComposeError("invalid_address", "no address");
        return open([]).compose(mail);
      },
    });
    await within(time, duty.runDue(nobody));
    expect(queue.begun).toEqual([3]);
    expect(queue.ended.map(({ outcome }) => outcome)).toEqual([
      { state: "failed", problem: "line 3: tag is not closed" },
      { state: "invalid_address", answer: "no address" },
      accepted,
    ]);
  });
});

describe("a mail that a lost worker was sending", () => {
  const takenUp = { mail: mailOf(1), previousWorker: "one" };

  it("is sent again where nobody can tell, which is said", async () => {
    const { time, duty, sent, said } = open([takenUp]);
    await within(time, duty.runDue(nobody));
    expect(sent).toEqual(["1-key"]);
    expect(said[0]).toMatchObject({ level: "warn", about: { mail: 1, from: "one" } });
    expect(said[0]?.words).toContain("may arrive twice");
  });

  it.each([
    [true, [], "was sent, and is not sent again"],
    [false, ["1-key"], "had not been sent"],
  ])("is sent only if it was not, where that can be told (%s)", async (wasSent, expected, words) => {
    const { time, queue, duty, sent, said } = open([takenUp], { wasSent: async () => wasSent });
    expect((await within(time, duty.runDue(nobody))).counts.sent).toBe(1);
    expect(sent).toEqual(expected);
    expect(said[0]?.words).toContain(words);
    expect(queue.ended).toMatchObject([{ id: 1, outcome: { state: "accepted" } }]);
  });

  it("is not sent again where a rule holds by now", async () => {
    const { time, queue, duty, sent } = open([{ ...takenUp, obstacle: "reported_spam" }]);
    await within(time, duty.runDue(nobody));
    expect(sent).toEqual([]);
    expect(queue.ended).toMatchObject([{ outcome: { state: "kept_back", obstacle: "reported_spam" } }]);
  });
});

describe("a way out that cannot be reached", () => {
  const unreachable: SendOutcome = { state: "unreachable", problem: "connection refused" };

  it("is tried again after longer and longer waits, and said once", async () => {
    let isUp = false;
    const at: number[] = [];
    const { time, queue, said, duty, surroundings, sent } = open([1, 2, 3], {
      send: async (_message, virtual) => {
        at.push(virtual.clock());
        return isUp ? accepted : unreachable;
      },
    });
    const stop = new AbortController();
    const running = runWorker([duty], surroundings, stop.signal);
    await time.run(1_000_000);
    const waits = at.map((ms, nth) => ms - (at[nth - 1] ?? 0)).slice(1);
    expect(waits).toEqual([5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
    expect(new Set(sent)).toEqual(new Set(["1-key"]));
    expect(said.filter(({ level }) => level === "error")).toHaveLength(1);
    expect(said.filter(({ level }) => level !== "debug" && level !== "error")).toEqual([]);
    isUp = true;
    await time.run(1_400_000);
    expect(queue.waiting).toEqual([]);
    expect(queue.ended.filter(({ outcome }) => outcome.state === "accepted").map(({ id }) => id)).toEqual([
      1, 2, 3,
    ]);
    expect(said.filter(({ words }) => words.includes("can be sent again"))).toHaveLength(1);
    stop.abort();
    await running;
  });

  it("is not waited for longer where the clock is put back", async () => {
    const { time, duty } = open([1], { send: async () => unreachable });
    await time.run(10_000_000);
    await within(time, duty.runDue(nobody));
    expect(await duty.nextDueAtMs()).toBeGreaterThan(time.clock());
    time.set(1);
    expect(await duty.nextDueAtMs()).toBe(0);
  });

  it("is what a round says that ended early", async () => {
    const { time, duty } = open([1, 2], { send: async () => unreachable });
    expect(await within(time, duty.runDue(nobody))).toEqual({ counts: none, problem: "connection refused" });
  });

  it("counts as that where sending itself breaks, and the mail as one that may have arrived", async () => {
    const { time, queue, duty, said } = open([1], {
      send: async () => {
        throw new Error("broken");
      },
    });
    expect((await within(time, duty.runDue(nobody))).problem).toBe("broken");
    expect(queue.ended).toMatchObject([{ outcome: { state: "unreachable", mayHaveArrived: true } }]);
    expect(said.some(({ words }) => words.includes("may arrive twice"))).toBe(true);
  });
});

describe("a database that is gone for a while", () => {
  it("loses nothing of what came of mails", async () => {
    const { time, queue, said, duty, surroundings, sent } = open([1, 2]);
    let sends = 0;
    const step = queue.step.bind(queue);
    queue.step = async (ended, nextId) => {
      if (ended.length > 0 && sends++ < 5) throw new Error("the database is gone");
      return step(ended, nextId);
    };
    const stop = new AbortController();
    const running = runWorker([duty], surroundings, stop.signal);
    await time.run(600_000);
    await settle();
    expect(sent).toEqual(["1-key", "2-key"]);
    expect(queue.ended.map(({ id }) => id)).toEqual([1, 2]);
    expect(said.filter(({ level }) => level === "error")).toHaveLength(1);
    stop.abort();
    await running;
  });
});
