import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maxProviderEvents } from "../../src/contract/index.ts";
import { createMessageKey } from "../../src/engine/emails/message-key.ts";
import { describeBackends, engines, type Harness, type TestAccount } from "../support/backends.ts";
import {
  createProviderKey,
  postEvents,
  type Posted,
  signByProvider,
  signBySecret,
} from "../support/provider-events.ts";
import { invalidField } from "../support/service-errors.ts";

const dayMs = 24 * 3_600_000;

/** An email that was handed over, and the Message-ID by which a provider knows it. */
interface SentEmail {
  readonly id: number;
  readonly email: string;
  readonly smtpId: string;
}

async function sendEmail(harness: Harness, { service }: TestAccount, email = "ann@mail.example"): Promise<SentEmail> {
  await service.emails.sendTest({ email });
  const [sent] = (await service.emails.list({ count: 1 })).mails;
  if (!sent) throw new Error("no email was queued");
  await harness.database.db
    .updateTable("mails")
    .set({ state: "sent", sent_at: harness.clock() })
    .where("id", "=", sent.id)
    .execute();
  return { id: sent.id, email, smtpId: `<${createMessageKey(sent.id, harness.sealer)}@shop.example>` };
}

const seconds = (ms: number) => Math.floor(ms / 1_000);

async function readCounts({ service }: TestAccount, days = ["2026-03-01", "2026-03-31"]) {
  const [since_date = "", to_date = ""] = days;
  const stats = await service.emails.stats({ since_date, to_date, categories: "map", aggregate: "day" });
  return Object.fromEntries(
    Object.entries(stats["map"] ?? {}).flatMap(([range, counters]) => {
      const reported = Object.entries(counters).filter(([name, emails]) => emails !== 0 && name !== "requests");
      return reported.length === 0 ? [] : [[range.slice(0, 10), Object.fromEntries(reported)]];
    }),
  );
}

const today = "2026-03-15";

describeBackends("events from email providers", (harness) => {
  let ids = 0;
  const createEvent = (sent: SentEmail, kind: string, fields: Posted = {}): Posted => ({
    email: sent.email,
    timestamp: seconds(harness().clock()),
    event: kind,
    "smtp-id": sent.smtpId,
    sg_event_id: `event-${(ids += 1)}`,
    sg_message_id: `message-${sent.id}`,
    ...fields,
  });

  it.each([
    ["delivered", {}, { delivered: 1 }],
    ["open", {}, { opens: 1, unique_opens: 1 }],
    ["click", { url: "https://shop.example/" }, { clicks: 1, unique_clicks: 1 }],
    ["bounce", { type: "bounce", reason: "550 no such user" }, { bounces: 1 }],
    ["bounce", { type: "blocked" }, { blocked: 1 }],
    ["dropped", { reason: "Bounced Address" }, { repeat_bounces: 1 }],
    ["dropped", { reason: "Unsubscribed Address" }, { repeat_unsubscribes: 1 }],
    ["dropped", { reason: "Spam Reporting Address" }, { repeat_spamreports: 1 }],
    ["dropped", { reason: "Invalid" }, { invalid_email: 1 }],
    ["dropped", { reason: "Spam Content (if Spam Checker app enabled)" }, { spam_drop: 1 }],
    ["dropped", { reason: "Recipient List over Package Quota" }, undefined],
    ["spamreport", {}, { spamreports: 1 }],
    ["unsubscribe", {}, { unsubscribes: 1 }],
    ["group_unsubscribe", { asm_group_id: 7 }, { unsubscribes: 1 }],
    ["deferred", { response: "451 later", attempt: "3" }, undefined],
  ])("counts %s with %j once", async (kind, fields, counters) => {
    const account = await harness().newAccount();
    const sent = await sendEmail(harness(), account);
    const reported = createEvent(sent, kind, fields);
    const first = await postEvents(harness(), account, [reported]);
    expect(first).toEqual({ accepted: 1, repeated: 0, unknown: 0, ignored: 0 });
    const again = await postEvents(harness(), account, [reported, reported]);
    expect(again).toEqual({ accepted: 0, repeated: 2, unknown: 0, ignored: 0 });
    expect(await readCounts(account)).toEqual(counters ? { [today]: counters } : {});
  });

  it("counts every open, and each email's first open as unique", async () => {
    const account = await harness().newAccount();
    const [one, other] = [await sendEmail(harness(), account), await sendEmail(harness(), account)];
    const events = [
      createEvent(one, "open"),
      createEvent(one, "open"),
      createEvent(other, "open"),
      createEvent(one, "click"),
    ];
    expect(await postEvents(harness(), account, events)).toMatchObject({ accepted: 4 });
    expect(await readCounts(account)).toEqual({ [today]: { opens: 3, unique_opens: 2, clicks: 1, unique_clicks: 1 } });
  });

  it("counts a one-time event once, even if the provider reports it under two IDs", async () => {
    const account = await harness().newAccount();
    const sent = await sendEmail(harness(), account);
    await postEvents(harness(), account, [createEvent(sent, "unsubscribe")]);
    await postEvents(harness(), account, [createEvent(sent, "group_unsubscribe"), createEvent(sent, "delivered")]);
    await postEvents(harness(), account, [createEvent(sent, "delivered")]);
    expect(await readCounts(account)).toEqual({ [today]: { unsubscribes: 1, delivered: 1 } });
    const { events } = await account.service.emails.get({ mail_id: sent.id });
    expect(events.map((stored) => stored.event)).toEqual([
      "requested",
      "unsubscribed",
      "unsubscribed",
      "delivered",
      "delivered",
    ]);
  });

  it("accepts an open before the delivery, and counts one-time events on the earliest day", async () => {
    const account = await harness().newAccount();
    const sent = await sendEmail(harness(), account);
    const sentMs = harness().clock();
    harness().clock.advance(3 * dayMs);
    const at = (days: number) => ({ timestamp: seconds(sentMs + days * dayMs) });
    await postEvents(harness(), account, [createEvent(sent, "open", at(3))]);
    expect(await readCounts(account)).toEqual({ "2026-03-18": { opens: 1, unique_opens: 1 } });
    await postEvents(harness(), account, [createEvent(sent, "open", at(1)), createEvent(sent, "delivered", at(0))]);
    await postEvents(harness(), account, [createEvent(sent, "open", at(2))]);
    expect(await readCounts(account)).toEqual({
      [today]: { delivered: 1 },
      "2026-03-16": { opens: 1, unique_opens: 1 },
      "2026-03-17": { opens: 1 },
      "2026-03-18": { opens: 1 },
    });
    const { events } = await account.service.emails.get({ mail_id: sent.id });
    expect(events.map((stored) => [stored.event, stored.occurred_at.slice(0, 10)])).toEqual([
      ["requested", today],
      ["delivered", today],
      ["opened", "2026-03-16"],
      ["opened", "2026-03-17"],
      ["opened", "2026-03-18"],
    ]);
  });

  it("replaces a timestamp before the email or in the future", async () => {
    const account = await harness().newAccount();
    const sent = await sendEmail(harness(), account);
    harness().clock.advance(dayMs);
    const reported = [{ timestamp: 1 }, { timestamp: 99_999_999_999 }, { timestamp: undefined }, { timestamp: 0 }];
    await postEvents(
      harness(),
      account,
      reported.map((fields) => createEvent(sent, "open", fields)),
    );
    expect(await readCounts(account)).toEqual({ [today]: { opens: 1, unique_opens: 1 }, "2026-03-16": { opens: 3 } });
  });

  it("does not change the state of an email that was not sent", async () => {
    const account = await harness().newAccount();
    const sent = await sendEmail(harness(), account);
    await harness().database.db.updateTable("mails").set({ state: "queued" }).where("id", "=", sent.id).execute();
    expect(await postEvents(harness(), account, [createEvent(sent, "bounce")])).toMatchObject({ accepted: 1 });
    expect((await account.service.emails.get({ mail_id: sent.id })).mail).toMatchObject({
      state: "queued",
      reason: null,
    });
  });

  it("ignores emails of other accounts, unknown emails, and copies", async () => {
    const [account, other] = [await harness().newAccount(), await harness().newAccount()];
    const sent = await sendEmail(harness(), account);
    const unmatched: Posted[] = [
      createEvent(sent, "open", { "smtp-id": `<${sent.id}-${"0".repeat(32)}@shop.example>` }),
      createEvent(sent, "open", { "smtp-id": "<hello@elsewhere.example>" }),
      createEvent(sent, "open", { "smtp-id": "nonsense" }),
      createEvent(sent, "open", { "smtp-id": undefined, sg_message_id: undefined }),
      createEvent(sent, "bounce", { email: "archive@shop.example" }),
    ];
    expect(await postEvents(harness(), account, unmatched)).toEqual({
      accepted: 0,
      repeated: 0,
      unknown: 5,
      ignored: 0,
    });
    expect(await postEvents(harness(), other, [createEvent(sent, "bounce")])).toMatchObject({ unknown: 1 });
    expect(await readCounts(account)).toEqual({});
    expect(await readCounts(other)).toEqual({});
  });

  it.each([
    ["Ana@Bücher.example", "ana@xn--bcher-kva.example"],
    ["ana@xn--bcher-kva.example", "ana@bücher.example"],
    ["ana@BÜCHER.example", "ana@Bücher.example"],
  ])("matches an email to %s if the event names %s", async (email, reported) => {
    const account = await harness().newAccount();
    const sent = await sendEmail(harness(), account, email);
    const events = [createEvent(sent, "bounce", { email: reported, type: "bounce" })];
    expect(await postEvents(harness(), account, events)).toMatchObject({ accepted: 1, unknown: 0 });
    const others = [createEvent(sent, "open", { email: "ana@bucher.example" })];
    expect(await postEvents(harness(), account, others)).toMatchObject({ accepted: 0, unknown: 1 });
    expect((await account.service.emails.get({ mail_id: sent.id })).mail.state).toBe("bounced");
  });

  it("matches an email by the provider's own ID after an event that also has the Message-ID", async () => {
    const account = await harness().newAccount();
    const sent = await sendEmail(harness(), account);
    const withoutMessageId = () => createEvent(sent, "open", { "smtp-id": undefined });
    expect(await postEvents(harness(), account, [withoutMessageId()])).toMatchObject({ unknown: 1 });
    const both = await postEvents(harness(), account, [withoutMessageId(), createEvent(sent, "processed")]);
    expect(both).toEqual({ accepted: 1, repeated: 0, unknown: 0, ignored: 1 });
    expect(await postEvents(harness(), account, [withoutMessageId()])).toMatchObject({ accepted: 1 });
    const other = await harness().newAccount();
    expect(await postEvents(harness(), other, [withoutMessageId()])).toMatchObject({ unknown: 1 });
  });

  it("ignores irrelevant events, and accepts long and unusual IDs", async () => {
    const account = await harness().newAccount();
    const sent = await sendEmail(harness(), account, "ANN@Mail.example");
    const reported = [
      createEvent(sent, "processed"),
      createEvent(sent, "group_resubscribe"),
      createEvent(sent, "constructor"),
      null,
      "open",
      { email: "ann@mail.example" },
    ];
    expect(await postEvents(harness(), account, reported as Posted[])).toEqual({
      accepted: 0,
      repeated: 0,
      unknown: 0,
      ignored: 6,
    });
    const unusual = [
      createEvent(sent, "open", { sg_event_id: "e".repeat(5_000), email: "ann@MAIL.example" }),
      createEvent(sent, "open", { sg_event_id: "\u0000 '\" %" }),
      createEvent(sent, "open", { sg_event_id: undefined }),
      createEvent(sent, "bounce", { reason: `\u0000\uD800${"x".repeat(5_000)}` }),
    ];
    expect(await postEvents(harness(), account, unusual)).toMatchObject({ accepted: 4, repeated: 0 });
    expect(await postEvents(harness(), account, unusual)).toMatchObject({ accepted: 0, repeated: 4 });
  });

  it.each([
    [{ status: "5.2.2", reason: "552 5.2.2 mailbox full" }],
    [{ status: "4.4.7", reason: "message expired" }],
    [{ reason: "552 over quota" }],
  ])("does not suppress an address after a bounce whose cause passes: %j", async (fields) => {
    const account = await harness().newAccount();
    const sent = await sendEmail(harness(), account, "full@mail.example");
    await postEvents(harness(), account, [createEvent(sent, "bounce", fields)]);
    expect((await account.service.emails.get({ mail_id: sent.id })).mail.state).toBe("bounced");
    expect(await account.service.emailSuppressions.lift({ email: "full@mail.example" })).toMatchObject({ lifted: [] });
  });

  it.each([
    ["bounce", { type: "bounce", reason: "550 no such user" }, { bounces: 1 }],
    ["bounce", { type: "blocked" }, { blocked: 1 }],
    ["bounce", { status: "5.2.2" }, { bounces: 1 }],
    ["dropped", { reason: "Bounced Address" }, { repeat_bounces: 1 }],
    ["dropped", { reason: "Spam Content" }, { spam_drop: 1 }],
    ["dropped", { reason: "Recipient List over Package Quota" }, undefined],
  ])("no longer counts an email as delivered after %s with %j, in any order", async (kind, fields, counters) => {
    const account = await harness().newAccount();
    const [first, second] = [await sendEmail(harness(), account), await sendEmail(harness(), account)];
    await postEvents(harness(), account, [createEvent(first, "delivered")]);
    expect(await readCounts(account)).toEqual({ [today]: { delivered: 1 } });
    harness().clock.advance(dayMs);
    await postEvents(harness(), account, [createEvent(first, kind, fields), createEvent(first, kind, fields)]);
    const tomorrow = "2026-03-16";
    expect(await readCounts(account)).toEqual(counters ? { [tomorrow]: counters } : {});
    await postEvents(harness(), account, [createEvent(second, kind, fields), createEvent(second, "delivered")]);
    await postEvents(harness(), account, [createEvent(second, "delivered")]);
    const twice = counters && Object.fromEntries(Object.keys(counters).map((name) => [name, 2]));
    expect(await readCounts(account)).toEqual(twice ? { [tomorrow]: twice } : {});
  });

  it("suppresses addresses after a hard bounce or a spam report until the store lifts the suppression", async () => {
    const account = await harness().newAccount();
    const { service } = account;
    const bounced = await sendEmail(harness(), account, "gone@mail.example");
    const complaining = await sendEmail(harness(), account, "Cross@mail.example");
    const blocked = await sendEmail(harness(), account, "slow@mail.example");
    await postEvents(harness(), account, [
      createEvent(bounced, "bounce", { status: "5.1.1", reason: "550 no such user" }),
      createEvent(complaining, "spamreport"),
      createEvent(blocked, "bounce", { type: "blocked", reason: "421 busy" }),
    ]);
    const suppressions = await harness()
      .database.db.selectFrom("mail_suppressions")
      .where("account_id", "=", await harness().newestAccountId())
      .select(["email_key", "kind", "mail_row"])
      .orderBy("email_key")
      .execute();
    expect(suppressions).toEqual([
      { email_key: "cross@mail.example", kind: "spamreports", mail_row: complaining.id },
      { email_key: "gone@mail.example", kind: "bounces", mail_row: bounced.id },
    ]);
    expect((await service.emails.get({ mail_id: bounced.id })).mail).toMatchObject({
      state: "bounced",
      reason: "5.1.1 550 no such user",
    });
    expect((await service.emails.get({ mail_id: blocked.id })).mail).toMatchObject({ state: "failed" });
    expect((await service.emails.get({ mail_id: complaining.id })).mail).toMatchObject({ state: "sent" });
    expect(await service.emailSuppressions.lift({ email: "GONE@mail.example" })).toEqual({
      email: "GONE@mail.example",
      lifted: ["bounces"],
    });
    expect(await service.emailSuppressions.lift({ email: "gone@mail.example" })).toMatchObject({ lifted: [] });
    const other = await harness().newAccount();
    expect(await other.service.emailSuppressions.lift({ email: "cross@mail.example" })).toMatchObject({ lifted: [] });
  });

  it("unsubscribes a user who unsubscribed at the provider, from that email type only", async () => {
    const account = await harness().newAccount();
    const sent = await sendEmail(harness(), account);
    const dropped = await sendEmail(harness(), account, "bo@mail.example");
    await postEvents(harness(), account, [
      createEvent(sent, "unsubscribe"),
      createEvent(dropped, "dropped", { reason: "Unsubscribed Address" }),
    ]);
    const { unsubscribers } = await account.service.unsubscribers.list({});
    expect(unsubscribers.map(({ id: _id, ...reported }) => reported)).toEqual([
      { user_email: "ann@mail.example", email_type_id: 1, unsubscirbed_by_name: "USER" },
      { user_email: "bo@mail.example", email_type_id: 1, unsubscirbed_by_name: "USER" },
    ]);
    expect((await account.service.emails.get({ mail_id: dropped.id })).mail).toMatchObject({
      state: "not_sent",
      reason: "unsubscribed",
    });
  });

  it("accepts only bodies signed with the account's secret within five minutes", async () => {
    const account = await harness().newAccount();
    const { service } = account;
    const sent = await sendEmail(harness(), account);
    const body = JSON.stringify([createEvent(sent, "open")]);
    const now = harness().clock();
    const expectRejected = async (input: Parameters<typeof service.emailEvents.receive>[0]) => {
      await expect(service.emailEvents.receive(input)).rejects.toMatchObject({ kind: "unauthorized" });
    };
    // Before a secret exists.
    await expectRejected(signBySecret(body, "whsec_", now));
    const { secret } = await service.emailEvents.setUp({});
    expect((await service.emailEvents.setUp({})).secret).toBe(secret);
    const signed = signBySecret(body, secret, now);
    await expectRejected({ body });
    await expectRejected({ ...signed, body: `${body} ` });
    await expectRejected({ ...signed, webhook_id: "evt_2" });
    await expectRejected({ ...signed, webhook_timestamp: String(seconds(now) + 1) });
    await expectRejected({ ...signed, webhook_timestamp: `${seconds(now)}.0` });
    await expectRejected({ ...signed, webhook_signature: signed.webhook_signature?.replace("v1,", "v1a,") ?? "" });
    await expectRejected(signBySecret(body, secret, now - 301_000));
    await expectRejected(signBySecret(body, secret, now + 301_000));
    const other = await harness().newAccount();
    await expectRejected(signBySecret(body, (await other.service.emailEvents.setUp({})).secret, now));
    expect(await readCounts(account)).toEqual({});
    const several = { ...signed, webhook_signature: `v1,AAAA v2,BBBB ${signed.webhook_signature}` };
    expect(await service.emailEvents.receive(several)).toMatchObject({ accepted: 1 });
    for (const ms of [now - 299_000, now + 299_000]) {
      expect(await service.emailEvents.receive(signBySecret(body, secret, ms))).toMatchObject({ repeated: 1 });
    }
    const rotated = await service.emailEvents.setUp({ rotate: true });
    expect(rotated.secret).not.toBe(secret);
    await expectRejected(signBySecret(body, secret, now));
    expect(await service.emailEvents.receive(signBySecret(body, rotated.secret, now))).toMatchObject({ repeated: 1 });
  });

  it("counts an event once if its body is replayed, reordered, signed again, or sent under another ID", async () => {
    const account = await harness().newAccount();
    const sent = await sendEmail(harness(), account);
    const events = [createEvent(sent, "open"), createEvent(sent, "bounce", { reason: "550 no such user" })];
    const { secret } = await account.service.emailEvents.setUp({});
    const body = JSON.stringify(events);
    const signed = signBySecret(body, secret, harness().clock());
    expect(await account.service.emailEvents.receive(signed)).toMatchObject({ accepted: 2 });
    const counts = await readCounts(account);
    for (let at = 0; at < 5; at += 1) {
      expect(await account.service.emailEvents.receive(signed)).toMatchObject({ accepted: 0, repeated: 2 });
    }
    harness().clock.advance(dayMs);
    await expect(account.service.emailEvents.receive(signed)).rejects.toMatchObject({ kind: "unauthorized" });
    const again = signBySecret(JSON.stringify(events.toReversed()), secret, harness().clock());
    expect(await account.service.emailEvents.receive(again)).toMatchObject({ accepted: 0, repeated: 2 });
    expect(await readCounts(account)).toEqual(counts);
    // A signature of one account is not one of another.
    const other = await harness().newAccount();
    await other.service.emailEvents.setUp({});
    await expect(other.service.emailEvents.receive(again)).rejects.toMatchObject({ kind: "unauthorized" });
  });

  it("accepts bodies signed with the provider's own key", async () => {
    const account = await harness().newAccount();
    const { service } = account;
    const sent = await sendEmail(harness(), account);
    const body = `${JSON.stringify([createEvent(sent, "open")])}\r\n`;
    const { privateKey, text } = createProviderKey();
    await expect(service.emailEvents.receive(signByProvider(body, privateKey))).rejects.toMatchObject({
      kind: "unauthorized",
    });
    const pem = `-----BEGIN PUBLIC KEY-----\n${text}\n-----END PUBLIC KEY-----\n`;
    expect((await service.emailEvents.setUp({ public_key: pem })).public_key).toBe(text);
    const signed = signByProvider(body, privateKey);
    for (const wrong of [
      { ...signed, provider_timestamp: "1600112503" },
      { ...signed, body: body.trimEnd() },
      { ...signed, provider_signature: "AAAA" },
      { ...signed, provider_signature: "" },
      signByProvider(body, createProviderKey().privateKey),
    ]) {
      await expect(service.emailEvents.receive(wrong)).rejects.toMatchObject({ kind: "unauthorized" });
    }
    expect(await service.emailEvents.receive(signed)).toMatchObject({ accepted: 1 });
    for (const bad of ["nonsense", createProviderKey("P-384").text, "AAAA"]) {
      await expect(service.emailEvents.setUp({ public_key: bad })).rejects.toMatchObject(invalidField("public_key"));
    }
    expect((await service.emailEvents.setUp({ public_key: "" })).public_key).toBeNull();
    await expect(service.emailEvents.receive(signed)).rejects.toMatchObject({ kind: "unauthorized" });
  });

  it("rejects a body that is not a list of events, or that has too many", async () => {
    const account = await harness().newAccount();
    const { secret } = await account.service.emailEvents.setUp({});
    const send = (body: string) => account.service.emailEvents.receive(signBySecret(body, secret, harness().clock()));
    await expect(send("[")).rejects.toMatchObject({ kind: "malformedBody" });
    await expect(send("")).rejects.toMatchObject({ kind: "malformedBody" });
    await expect(send("{}")).rejects.toMatchObject({ kind: "invalidParams" });
    const irrelevant = JSON.stringify(Array.from({ length: maxProviderEvents }, () => ({ event: "x" })));
    expect(await send(irrelevant)).toMatchObject({ ignored: maxProviderEvents });
    await expect(send(irrelevant.replace("[", "[1,"))).rejects.toMatchObject({ kind: "invalidParams" });
    expect(await send("[]")).toEqual({ accepted: 0, repeated: 0, unknown: 0, ignored: 0 });
  });
});

describe.each(engines)("any order of provider events over $name", ({ open }) => {
  const kinds = ["delivered", "open", "click", "bounce", "spamreport", "unsubscribe", "deferred"] as const;
  const reported = fc.record({
    mail: fc.nat({ max: 1 }),
    kind: fc.constantFrom(...kinds),
    id: fc.nat({ max: 30 }),
    hours: fc.nat({ max: 100 }),
  });
  const distinct = fc.uniqueArray(reported, { maxLength: 12, selector: ({ id }) => id });
  const sequences = distinct.chain((events) =>
    fc.tuple(
      fc.constant(events),
      fc
        .tuple(
          fc.shuffledSubarray(events, { minLength: events.length }),
          fc.array(fc.constantFrom(...(events.length > 0 ? events : [undefined]))),
        )
        .chain(([all, more]) => {
          const sequence = [...all, ...more].filter((one) => one !== undefined);
          return fc.shuffledSubarray(sequence, { minLength: sequence.length });
        }),
      fc.integer({ min: 1, max: 5 }),
    ),
  );

  it("results in the same counts as the set of distinct events", async () => {
    const harness = await open();
    try {
      await fc.assert(
        fc.asyncProperty(sequences, async ([events, sequence, batch]) => {
          const run = async (posted: typeof events, perCall: number) => {
            const account = await harness.newAccount();
            const emails = [await sendEmail(harness, account), await sendEmail(harness, account)];
            const base = harness.clock();
            harness.clock.advance(101 * 3_600_000);
            const list = posted.map(({ mail: index, kind, id, hours }) => ({
              email: "ann@mail.example",
              timestamp: seconds(base + hours * 3_600_000),
              event: kind,
              "smtp-id": emails[index]?.smtpId,
              sg_event_id: `e${id}`,
            }));
            let accepted = 0;
            for (let at = 0; at < list.length; at += perCall) {
              accepted += (await postEvents(harness, account, list.slice(at, at + perCall))).accepted;
            }
            // Move back, so that every run starts at the same hour of a day.
            harness.clock.advance(-101 * 3_600_000);
            return { accepted, counts: await readCounts(account) };
          };
          const expected = await run(events, 100);
          expect(expected.accepted).toBe(events.length);
          expect(await run(sequence, batch)).toEqual(expected);
        }),
        { numRuns: 25 },
      );
    } finally {
      await harness.close();
    }
  });
});
