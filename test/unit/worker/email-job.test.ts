import { describe, expect, it } from "vitest";
import { EmailJob } from "../../../src/worker/email-job.ts";
import type { Claim, ClaimedEmail } from "../../../src/engine/emails/sending/claims.ts";
import type { EmailQueue } from "../../../src/engine/emails/sending/email-queue.ts";
import { ComposeError } from "../../../src/email/transports/mime-message.ts";
import type { ComposedMessage, SendOutcome } from "../../../src/email/transports/transport.ts";
import type { OutgoingEmail } from "../../../src/email/outgoing-email.ts";
import { runWorker } from "../../../src/worker/worker.ts";
import { settle, VirtualTime } from "../../support/virtual-time.ts";

const leaseMs = 60_000;
const accepted: SendOutcome = { state: "accepted", answer: "250 ok" };
const noStop = new AbortController().signal;

function anEmail(id: number): OutgoingEmail {
  return {
    id,
    accountId: 1,
    appKey: "app-key",
    category: "map",
    to: { address: `p${id}@mail.example`, name: "P" },
    store: { name: "Shop", url: null },
    data: {},
    unsubscribeUrl: "https://reviews.example/u",
    key: `${id}-key`,
  };
}

type Outcomes = Parameters<EmailQueue["step"]>[0];

/** An in-memory queue in which all emails are due. */
class Queue implements EmailQueue {
  readonly waiting: ClaimedEmail[];
  readonly ended: Outcomes[number][] = [];
  readonly begun: number[] = [];
  renewals = 0;
  released = 0;
  claims = 0;
  refuses: number | undefined;
  #held: ClaimedEmail[] = [];

  constructor(emails: readonly ClaimedEmail[]) {
    this.waiting = [...emails];
  }

  async claim(limit: number): Promise<Claim> {
    this.claims += 1;
    this.#held = this.waiting.splice(0, limit);
    return { emails: this.#held, notSent: [], held: [], recovered: 0 };
  }

  async step(ended: Outcomes, nextId?: number) {
    if (ended.length === 0 && nextId === undefined) return { results: [], hasBegun: false };
    this.ended.push(...ended);
    for (const { id, outcome } of ended) {
      const held = this.#held.find(({ email }) => email.id === id);
      this.#held = this.#held.filter((other) => other !== held);
      if (held && outcome.state === "unreachable") this.waiting.unshift(held);
    }
    const hasBegun = nextId !== undefined && nextId !== this.refuses;
    if (hasBegun) this.begun.push(nextId);
    else this.#held = this.#held.filter(({ email }) => email.id !== nextId);
    const results = ended.map(({ outcome: { state } }) =>
      state === "accepted" ? "sent" : state === "unreachable" ? "waiting" : "failed",
    );
    return { results, hasBegun } as const;
  }

  async recordTemplateUse() {
    return false;
  }

  async renew() {
    this.renewals += 1;
  }

  async release() {
    this.released += this.#held.length;
    this.waiting.push(...this.#held.splice(0));
    this.waiting.sort((a, b) => a.email.id - b.email.id);
  }

  async nextDueAt() {
    return this.waiting.length > 0 ? 0 : undefined;
  }
}

interface LogEntry {
  readonly level: string;
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

function open(
  emails: readonly (number | ClaimedEmail)[],
  settings: {
    readonly send?: (message: ComposedMessage, time: VirtualTime) => Promise<SendOutcome>;
    readonly wasSent?: (key: string) => Promise<boolean>;
    readonly compose?: (email: OutgoingEmail) => Promise<ComposedMessage>;
  } = {},
) {
  const time = new VirtualTime();
  const queue = new Queue(emails.map((email) => (typeof email === "number" ? { email: anEmail(email) } : email)));
  const logged: LogEntry[] = [];
  const logAt =
    (level: string) =>
    (first: unknown, second = "") => {
      const [fields, message] = typeof first === "string" ? [{}, first] : [first as object, second];
      logged.push({ level, fields: { ...fields }, message });
    };
  const log = { debug: logAt("debug"), info: logAt("info"), warn: logAt("warn"), error: logAt("error") } as never;
  const sent: string[] = [];
  const { send = async () => accepted, wasSent } = settings;
  const context = { clock: time.clock, sleep: time.sleep, log };
  const compose = async ({ key, to }: OutgoingEmail): Promise<ComposedMessage> => ({
    key,
    to: to.address,
    from: "shop@shop.example",
    subject: "Well?",
    text: "text",
    html: "<p>text</p>",
    messageId: `<${key}@shop.example>`,
    raw: Buffer.from("text"),
  });
  const job = new EmailJob({
    ...context,
    queue,
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
  return { time, queue, logged, sent, job, context, compose };
}

/** Advances virtual time until the work is done. */
async function within<T>(time: VirtualTime, work: Promise<T>): Promise<T> {
  const progress = { isDone: false };
  const done = work.finally(() => (progress.isDone = true));
  while (!progress.isDone) await time.run(time.clock() + 1_000);
  return done;
}

const none = { sent: 0, not_sent: 0, deferred: 0, bounced: 0, failed: 0 };

describe("sending due emails", () => {
  it("sends one email after another, recording the start and outcome of each", async () => {
    const { time, queue, sent, job, logged } = open([1, 2, 3]);
    expect(await within(time, job.runDue(noStop))).toEqual({ counts: { ...none, sent: 3 }, problem: undefined });
    expect(sent).toEqual(["1-key", "2-key", "3-key"]);
    expect(queue.begun).toEqual([1, 2, 3]);
    expect(queue.ended.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(logged.map(({ level, fields }) => [level, fields["mail"]])).toEqual([
      ["info", 1],
      ["info", 2],
      ["info", 3],
    ]);
    expect(JSON.stringify(logged)).not.toContain("@");
  });

  it("renews leases while an email takes longer than a lease", async () => {
    const { time, queue, job } = open([1, 2], {
      send: async (_message, virtual) => {
        await virtual.sleep(5 * leaseMs);
        return accepted;
      },
    });
    const { counts } = await within(time, job.runDue(noStop));
    expect(queue.renewals).toBeGreaterThanOrEqual(2 * 5 * 2);
    expect(counts.sent).toBe(2);
    // The claim on the second email is too old by then, so its rules are evaluated again.
    expect(queue.claims).toBe(3);
    expect(queue.released).toBe(1);
  });

  it("finishes the email in flight when stopped, and releases the others", async () => {
    const { time, queue, sent, job } = open([1, 2, 3], {
      send: async (_message, virtual) => {
        await virtual.sleep(10_000);
        return accepted;
      },
    });
    const stop = new AbortController();
    const running = job.runDue(stop.signal);
    await time.run(5_000);
    stop.abort();
    const { counts } = await within(time, running);
    expect([sent, counts.sent, queue.released]).toEqual([["1-key"], 1, 2]);
    expect(queue.waiting.map(({ email }) => email.id)).toEqual([2, 3]);
  });

  it("skips an email whose lease was lost", async () => {
    const { time, queue, sent, job } = open([1, 2]);
    queue.refuses = 1;
    expect((await within(time, job.runDue(noStop))).counts.sent).toBe(1);
    expect(sent).toEqual(["2-key"]);
  });

  it("continues after an email that cannot be composed", async () => {
    const { time, queue, job } = open([1, 2, 3], {
      compose: async (email) => {
        if (email.id === 1) throw new ComposeError("failed", "line 3: tag is not closed");
        if (email.id === 2) throw new ComposeError("invalid_address", "no address");
        return open([]).compose(email);
      },
    });
    await within(time, job.runDue(noStop));
    expect(queue.begun).toEqual([3]);
    expect(queue.ended.map(({ outcome }) => outcome)).toEqual([
      { state: "failed", problem: "line 3: tag is not closed" },
      { state: "invalid_address", answer: "no address" },
      { ...accepted, message: { subject: "Well?", headers: "", text: "text", html: "<p>text</p>" } },
    ]);
  });
});

describe("an email that a lost worker was sending", () => {
  const takenUp = { email: anEmail(1), previousWorker: "one" };

  it("is sent again with a warning if its fate is unknown", async () => {
    const { time, job, sent, logged } = open([takenUp]);
    await within(time, job.runDue(noStop));
    expect(sent).toEqual(["1-key"]);
    expect(logged[0]).toMatchObject({ level: "warn", fields: { mail: 1, from: "one" } });
  });

  it.each([
    [true, []],
    [false, ["1-key"]],
  ])("is sent only if the transport knows that it was not (%s)", async (wasSent, expected) => {
    const { time, queue, job, sent, logged } = open([takenUp], { wasSent: async () => wasSent });
    expect((await within(time, job.runDue(noStop))).counts.sent).toBe(1);
    expect(sent).toEqual(expected);
    expect(logged[0]).toMatchObject({ level: "warn", fields: { mail: 1, from: "one" } });
    expect(queue.ended).toMatchObject([{ id: 1, outcome: { state: "accepted" } }]);
  });

  it("is not sent again if a rule now prevents it", async () => {
    const { time, queue, job, sent } = open([{ ...takenUp, rule: "reported_spam" }]);
    await within(time, job.runDue(noStop));
    expect(sent).toEqual([]);
    expect(queue.ended).toMatchObject([{ outcome: { state: "not_sent", rule: "reported_spam" } }]);
  });
});

describe("an unreachable transport", () => {
  const unreachable: SendOutcome = { state: "unreachable", problem: "connection refused" };

  it("is retried with increasing delays and logged once", async () => {
    let isUp = false;
    const at: number[] = [];
    const { time, queue, logged, job, context, sent } = open([1, 2, 3], {
      send: async (_message, virtual) => {
        at.push(virtual.clock());
        return isUp ? accepted : unreachable;
      },
    });
    const stop = new AbortController();
    const running = runWorker([job], context, stop.signal);
    await time.run(1_000_000);
    const waits = at.map((ms, nth) => ms - (at[nth - 1] ?? 0)).slice(1);
    expect(waits).toEqual([5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
    expect(new Set(sent)).toEqual(new Set(["1-key"]));
    expect(logged.filter(({ level }) => level === "error")).toHaveLength(1);
    expect(logged.filter(({ level }) => level !== "debug" && level !== "error")).toEqual([]);
    isUp = true;
    await time.run(1_400_000);
    expect(queue.waiting).toEqual([]);
    expect(queue.ended.filter(({ outcome }) => outcome.state === "accepted").map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(logged.filter(({ level, fields }) => level === "info" && !("mail" in fields))).toHaveLength(1);
    stop.abort();
    await running;
  });

  it("does not cause a longer pause if the clock is set back", async () => {
    const { time, job } = open([1], { send: async () => unreachable });
    await time.run(10_000_000);
    await within(time, job.runDue(noStop));
    expect(await job.nextDueAtMs()).toBeGreaterThan(time.clock());
    time.set(1);
    expect(await job.nextDueAtMs()).toBe(0);
  });

  it("is the problem of a round that ended early", async () => {
    const { time, job } = open([1, 2], { send: async () => unreachable });
    expect(await within(time, job.runDue(noStop))).toEqual({ counts: none, problem: "connection refused" });
  });

  it("includes unexpected errors, after which the email may have been sent", async () => {
    const { time, queue, job, logged } = open([1], {
      send: async () => {
        throw new Error("broken");
      },
    });
    expect((await within(time, job.runDue(noStop))).problem).toBe("broken");
    expect(queue.ended).toMatchObject([{ outcome: { state: "unreachable", mayHaveArrived: true } }]);
    expect(logged.some(({ level, fields }) => level === "warn" && fields["mail"] === 1)).toBe(true);
  });
});

describe("an unavailable database", () => {
  it("does not lose the outcome of emails", async () => {
    const { time, queue, logged, job, context, sent } = open([1, 2]);
    let sends = 0;
    const step = queue.step.bind(queue);
    queue.step = async (ended, nextId) => {
      if (ended.length > 0 && sends++ < 5) throw new Error("database unavailable");
      return step(ended, nextId);
    };
    const stop = new AbortController();
    const running = runWorker([job], context, stop.signal);
    await time.run(600_000);
    await settle();
    expect(sent).toEqual(["1-key", "2-key"]);
    expect(queue.ended.map(({ id }) => id)).toEqual([1, 2]);
    expect(logged.filter(({ level }) => level === "error")).toHaveLength(1);
    stop.abort();
    await running;
  });
});
