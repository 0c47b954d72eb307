import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maxProviderEvents } from "../../src/contract/index.ts";
import { createMessageKey } from "../../src/engine/kernel/message-key.ts";
import { backends, describeBackends, type Harness, type TestAccount } from "../support/backends.ts";
import {
  createProviderKey,
  postEvents,
  type Posted,
  signByProvider,
  signBySecret,
} from "../support/provider-events.ts";

const dayMs = 24 * 3_600_000;

/** A mail that was handed over, and what a provider calls it. */
interface SentMail {
  readonly id: number;
  readonly email: string;
  readonly smtpId: string;
}

async function sendMail(
  harness: Harness,
  { service }: TestAccount,
  email = "ann@mail.example",
): Promise<SentMail> {
  await service.emails.sendTest({ email });
  const [mail] = (await service.emails.list({ count: 1 })).mails;
  if (!mail) throw new Error("no mail was queued");
  await harness.database.db
    .updateTable("mails")
    .set({ state: "sent", sent_at: harness.clock() })
    .where("id", "=", mail.id)
    .execute();
  return { id: mail.id, email, smtpId: `<${createMessageKey(mail.id, harness.sealer)}@shop.example>` };
}

const seconds = (ms: number) => Math.floor(ms / 1_000);

async function readCounts({ service }: TestAccount, days = ["2026-03-01", "2026-03-31"]) {
  const [since_date = "", to_date = ""] = days;
  const stats = await service.emails.stats({ since_date, to_date, categories: "map", aggregate: "day" });
  return Object.fromEntries(
    Object.entries(stats["map"] ?? {}).flatMap(([range, counters]) => {
      const told = Object.entries(counters).filter(([name, mails]) => mails !== 0 && name !== "requests");
      return told.length === 0 ? [] : [[range.slice(0, 10), Object.fromEntries(told)]];
    }),
  );
}

const today = "2026-03-15";

describeBackends("mail events", (harness) => {
  let ids = 0;
  const event = (mail: SentMail, kind: string, fields: Posted = {}): Posted => ({
    email: mail.email,
    timestamp: seconds(harness().clock()),
    event: kind,
    "smtp-id": mail.smtpId,
    sg_event_id: `event-${(ids += 1)}`,
    sg_message_id: `message-${mail.id}`,
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
    const mail = await sendMail(harness(), account);
    const told = event(mail, kind, fields);
    const first = await postEvents(harness(), account, [told]);
    expect(first).toEqual({ accepted: 1, repeated: 0, unknown: 0, ignored: 0 });
    const again = await postEvents(harness(), account, [told, told]);
    expect(again).toEqual({ accepted: 0, repeated: 2, unknown: 0, ignored: 0 });
    expect(await readCounts(account)).toEqual(counters ? { [today]: counters } : {});
  });

  it("counts every opening, and who opened once", async () => {
    const account = await harness().newAccount();
    const [one, other] = [await sendMail(harness(), account), await sendMail(harness(), account)];
    const events = [event(one, "open"), event(one, "open"), event(other, "open"), event(one, "click")];
    expect(await postEvents(harness(), account, events)).toMatchObject({ accepted: 4 });
    expect(await readCounts(account)).toEqual({
      [today]: { opens: 3, unique_opens: 2, clicks: 1, unique_clicks: 1 },
    });
  });

  it("counts what happens to a mail once also where the provider tells it under two ids", async () => {
    const account = await harness().newAccount();
    const mail = await sendMail(harness(), account);
    await postEvents(harness(), account, [event(mail, "unsubscribe")]);
    await postEvents(harness(), account, [event(mail, "group_unsubscribe"), event(mail, "delivered")]);
    await postEvents(harness(), account, [event(mail, "delivered")]);
    expect(await readCounts(account)).toEqual({ [today]: { unsubscribes: 1, delivered: 1 } });
    const { events } = await account.service.emails.get({ mail_id: mail.id });
    expect(events.map((held) => held.event)).toEqual([
      "requested",
      "unsubscribed",
      "unsubscribed",
      "delivered",
      "delivered",
    ]);
  });

  it("takes an opening before the delivery, and moves what counts once to the day of the earliest", async () => {
    const account = await harness().newAccount();
    const mail = await sendMail(harness(), account);
    const sentMs = harness().clock();
    harness().clock.advance(3 * dayMs);
    const at = (days: number) => ({ timestamp: seconds(sentMs + days * dayMs) });
    await postEvents(harness(), account, [event(mail, "open", at(3))]);
    expect(await readCounts(account)).toEqual({ "2026-03-18": { opens: 1, unique_opens: 1 } });
    await postEvents(harness(), account, [event(mail, "open", at(1)), event(mail, "delivered", at(0))]);
    await postEvents(harness(), account, [event(mail, "open", at(2))]);
    expect(await readCounts(account)).toEqual({
      [today]: { delivered: 1 },
      "2026-03-16": { opens: 1, unique_opens: 1 },
      "2026-03-17": { opens: 1 },
      "2026-03-18": { opens: 1 },
    });
    const { events } = await account.service.emails.get({ mail_id: mail.id });
    expect(events.map((held) => [held.event, held.occurred_at.slice(0, 10)])).toEqual([
      ["requested", today],
      ["delivered", today],
      ["opened", "2026-03-16"],
      ["opened", "2026-03-17"],
      ["opened", "2026-03-18"],
    ]);
  });

  it("takes a time before the mail, or to come, for a wrong clock", async () => {
    const account = await harness().newAccount();
    const mail = await sendMail(harness(), account);
    harness().clock.advance(dayMs);
    const told = [
      { timestamp: 1 },
      { timestamp: 99_999_999_999 },
      { timestamp: undefined },
      { timestamp: 0 },
    ];
    await postEvents(
      harness(),
      account,
      told.map((fields) => event(mail, "open", fields)),
    );
    expect(await readCounts(account)).toEqual({
      [today]: { opens: 1, unique_opens: 1 },
      "2026-03-16": { opens: 3 },
    });
  });

  it("changes the state of none that is not sent", async () => {
    const account = await harness().newAccount();
    const mail = await sendMail(harness(), account);
    await harness()
      .database.db.updateTable("mails")
      .set({ state: "queued" })
      .where("id", "=", mail.id)
      .execute();
    expect(await postEvents(harness(), account, [event(mail, "bounce")])).toMatchObject({ accepted: 1 });
    expect((await account.service.emails.get({ mail_id: mail.id })).mail).toMatchObject({
      state: "queued",
      reason: null,
    });
  });

  it("knows no mails of others, none that it did not send, and no copies", async () => {
    const [account, other] = [await harness().newAccount(), await harness().newAccount()];
    const mail = await sendMail(harness(), account);
    const strangers: Posted[] = [
      event(mail, "open", { "smtp-id": `<${mail.id}-${"0".repeat(32)}@shop.example>` }),
      event(mail, "open", { "smtp-id": "<hello@elsewhere.example>" }),
      event(mail, "open", { "smtp-id": "nonsense" }),
      event(mail, "open", { "smtp-id": undefined, sg_message_id: undefined }),
      event(mail, "bounce", { email: "archive@shop.example" }),
    ];
    expect(await postEvents(harness(), account, strangers)).toEqual({
      accepted: 0,
      repeated: 0,
      unknown: 5,
      ignored: 0,
    });
    expect(await postEvents(harness(), other, [event(mail, "bounce")])).toMatchObject({ unknown: 1 });
    expect(await readCounts(account)).toEqual({});
    expect(await readCounts(other)).toEqual({});
  });

  it.each([
    ["Ana@Bücher.example", "ana@xn--bcher-kva.example"],
    ["ana@xn--bcher-kva.example", "ana@bücher.example"],
    ["ana@BÜCHER.example", "ana@Bücher.example"],
  ])("knows a mail to %s by the same address as %s, as it goes out", async (email, told) => {
    const account = await harness().newAccount();
    const mail = await sendMail(harness(), account, email);
    const events = [event(mail, "bounce", { email: told, type: "bounce" })];
    expect(await postEvents(harness(), account, events)).toMatchObject({ accepted: 1, unknown: 0 });
    const others = [event(mail, "open", { email: "ana@bucher.example" })];
    expect(await postEvents(harness(), account, others)).toMatchObject({ accepted: 0, unknown: 1 });
    expect((await account.service.emails.get({ mail_id: mail.id })).mail.state).toBe("bounced");
  });

  it("knows a mail by the provider's own id once that was told beside the Message-ID", async () => {
    const account = await harness().newAccount();
    const mail = await sendMail(harness(), account);
    const nameless = () => event(mail, "open", { "smtp-id": undefined });
    expect(await postEvents(harness(), account, [nameless()])).toMatchObject({ unknown: 1 });
    const both = await postEvents(harness(), account, [nameless(), event(mail, "processed")]);
    expect(both).toEqual({ accepted: 1, repeated: 0, unknown: 0, ignored: 1 });
    expect(await postEvents(harness(), account, [nameless()])).toMatchObject({ accepted: 1 });
    const other = await harness().newAccount();
    expect(await postEvents(harness(), other, [nameless()])).toMatchObject({ unknown: 1 });
  });

  it("passes over what means nothing here, and takes long and odd names", async () => {
    const account = await harness().newAccount();
    const mail = await sendMail(harness(), account, "ANN@Mail.example");
    const told = [
      event(mail, "processed"),
      event(mail, "group_resubscribe"),
      event(mail, "constructor"),
      null,
      "open",
      { email: "ann@mail.example" },
    ];
    expect(await postEvents(harness(), account, told as Posted[])).toEqual({
      accepted: 0,
      repeated: 0,
      unknown: 0,
      ignored: 6,
    });
    const odd = [
      event(mail, "open", { sg_event_id: "e".repeat(5_000), email: "ann@MAIL.example" }),
      event(mail, "open", { sg_event_id: "\u0000 '\" %" }),
      event(mail, "open", { sg_event_id: undefined }),
      event(mail, "bounce", { reason: `\u0000\uD800${"x".repeat(5_000)}` }),
    ];
    expect(await postEvents(harness(), account, odd)).toMatchObject({ accepted: 4, repeated: 0 });
    expect(await postEvents(harness(), account, odd)).toMatchObject({ accepted: 0, repeated: 4 });
  });

  it("sends nothing more to who bounced for good or reported spam, until the store says so", async () => {
    const account = await harness().newAccount();
    const { service } = account;
    const bounced = await sendMail(harness(), account, "gone@mail.example");
    const cross = await sendMail(harness(), account, "Cross@mail.example");
    const blocked = await sendMail(harness(), account, "slow@mail.example");
    await postEvents(harness(), account, [
      event(bounced, "bounce", { status: "5.1.1", reason: "550 no such user" }),
      event(cross, "spamreport"),
      event(blocked, "bounce", { type: "blocked", reason: "421 busy" }),
    ]);
    const kept = await harness()
      .database.db.selectFrom("mail_suppressions")
      .where("account_id", "=", await harness().newestAccountId())
      .select(["email_key", "kind", "mail_row"])
      .orderBy("email_key")
      .execute();
    expect(kept).toEqual([
      { email_key: "cross@mail.example", kind: "spamreports", mail_row: cross.id },
      { email_key: "gone@mail.example", kind: "bounces", mail_row: bounced.id },
    ]);
    expect((await service.emails.get({ mail_id: bounced.id })).mail).toMatchObject({
      state: "bounced",
      reason: "5.1.1 550 no such user",
    });
    expect((await service.emails.get({ mail_id: blocked.id })).mail).toMatchObject({ state: "failed" });
    expect((await service.emails.get({ mail_id: cross.id })).mail).toMatchObject({ state: "sent" });
    expect(await service.emailSuppressions.lift({ email: "GONE@mail.example" })).toEqual({
      email: "GONE@mail.example",
      lifted: ["bounces"],
    });
    expect(await service.emailSuppressions.lift({ email: "gone@mail.example" })).toMatchObject({
      lifted: [],
    });
    const other = await harness().newAccount();
    expect(await other.service.emailSuppressions.lift({ email: "cross@mail.example" })).toMatchObject({
      lifted: [],
    });
  });

  it("unsubscribes who unsubscribed at the provider, as by themselves, and from that type alone", async () => {
    const account = await harness().newAccount();
    const mail = await sendMail(harness(), account);
    const dropped = await sendMail(harness(), account, "bo@mail.example");
    await postEvents(harness(), account, [
      event(mail, "unsubscribe"),
      event(dropped, "dropped", { reason: "Unsubscribed Address" }),
    ]);
    const { unsubscribers } = await account.service.unsubscribers.list({});
    expect(unsubscribers.map(({ id: _id, ...told }) => told)).toEqual([
      { user_email: "ann@mail.example", email_type_id: 1, unsubscirbed_by_name: "USER" },
      { user_email: "bo@mail.example", email_type_id: 1, unsubscirbed_by_name: "USER" },
    ]);
    expect((await account.service.emails.get({ mail_id: dropped.id })).mail).toMatchObject({
      state: "not_sent",
      reason: "unsubscribed",
    });
  });

  it("takes what the account's secret has signed within five minutes, and nothing else", async () => {
    const account = await harness().newAccount();
    const { service } = account;
    const mail = await sendMail(harness(), account);
    const body = JSON.stringify([event(mail, "open")]);
    const now = harness().clock();
    const refused = async (sent: Parameters<typeof service.emailEvents.receive>[0]) => {
      await expect(service.emailEvents.receive(sent)).rejects.toMatchObject({ kind: "unauthorized" });
    };
    // Before there is a secret.
    await refused(signBySecret(body, "whsec_", now));
    const { secret } = await service.emailEvents.setUp({});
    expect((await service.emailEvents.setUp({})).secret).toBe(secret);
    const good = signBySecret(body, secret, now);
    await refused({ body });
    await refused({ ...good, body: `${body} ` });
    await refused({ ...good, webhook_id: "evt_2" });
    await refused({ ...good, webhook_timestamp: String(seconds(now) + 1) });
    await refused({ ...good, webhook_timestamp: `${seconds(now)}.0` });
    await refused({ ...good, webhook_signature: good.webhook_signature?.replace("v1,", "v1a,") ?? "" });
    await refused(signBySecret(body, secret, now - 301_000));
    await refused(signBySecret(body, secret, now + 301_000));
    const other = await harness().newAccount();
    await refused(signBySecret(body, (await other.service.emailEvents.setUp({})).secret, now));
    expect(await readCounts(account)).toEqual({});
    const several = { ...good, webhook_signature: `v1,AAAA v2,BBBB ${good.webhook_signature}` };
    expect(await service.emailEvents.receive(several)).toMatchObject({ accepted: 1 });
    for (const ms of [now - 299_000, now + 299_000]) {
      expect(await service.emailEvents.receive(signBySecret(body, secret, ms))).toMatchObject({
        repeated: 1,
      });
    }
    const rotated = await service.emailEvents.setUp({ rotate: true });
    expect(rotated.secret).not.toBe(secret);
    await refused(signBySecret(body, secret, now));
    expect(await service.emailEvents.receive(signBySecret(body, rotated.secret, now))).toMatchObject({
      repeated: 1,
    });
  });

  it("takes what the provider's own key has signed", async () => {
    const account = await harness().newAccount();
    const { service } = account;
    const mail = await sendMail(harness(), account);
    const body = `${JSON.stringify([event(mail, "open")])}\r\n`;
    const { privateKey, text } = createProviderKey();
    await expect(service.emailEvents.receive(signByProvider(body, privateKey))).rejects.toMatchObject({
      kind: "unauthorized",
    });
    const pem = `-----BEGIN PUBLIC KEY-----\n${text}\n-----END PUBLIC KEY-----\n`;
    expect((await service.emailEvents.setUp({ public_key: pem })).public_key).toBe(text);
    const good = signByProvider(body, privateKey);
    for (const wrong of [
      { ...good, provider_timestamp: "1600112503" },
      { ...good, body: body.trimEnd() },
      { ...good, provider_signature: "AAAA" },
      { ...good, provider_signature: "" },
      signByProvider(body, createProviderKey().privateKey),
    ]) {
      await expect(service.emailEvents.receive(wrong)).rejects.toMatchObject({ kind: "unauthorized" });
    }
    expect(await service.emailEvents.receive(good)).toMatchObject({ accepted: 1 });
    for (const bad of ["nonsense", createProviderKey("P-384").text, "AAAA"]) {
      await expect(service.emailEvents.setUp({ public_key: bad })).rejects.toMatchObject({
        kind: "invalidParams",
        message: expect.stringContaining("public_key "),
      });
    }
    expect((await service.emailEvents.setUp({ public_key: "" })).public_key).toBeNull();
    await expect(service.emailEvents.receive(good)).rejects.toMatchObject({ kind: "unauthorized" });
  });

  it("refuses a body that is no list of events, or too many", async () => {
    const account = await harness().newAccount();
    const { secret } = await account.service.emailEvents.setUp({});
    const send = (body: string) =>
      account.service.emailEvents.receive(signBySecret(body, secret, harness().clock()));
    await expect(send("[")).rejects.toMatchObject({ kind: "malformedBody" });
    await expect(send("")).rejects.toMatchObject({ kind: "malformedBody" });
    await expect(send("{}")).rejects.toMatchObject({
      kind: "invalidParams",
    });
    const none = JSON.stringify(Array.from({ length: maxProviderEvents }, () => ({ event: "x" })));
    expect(await send(none)).toMatchObject({ ignored: maxProviderEvents });
    await expect(send(none.replace("[", "[1,"))).rejects.toMatchObject({ kind: "invalidParams" });
    expect(await send("[]")).toEqual({ accepted: 0, repeated: 0, unknown: 0, ignored: 0 });
  });
});

describe.each(backends.filter(({ name }) => name.startsWith("local")))(
  "any order of provider events over $name",
  ({ open }) => {
    const kinds = ["delivered", "open", "click", "bounce", "spamreport", "unsubscribe", "deferred"] as const;
    const told = fc.record({
      mail: fc.nat({ max: 1 }),
      kind: fc.constantFrom(...kinds),
      id: fc.nat({ max: 30 }),
      hours: fc.nat({ max: 100 }),
    });
    const distinct = fc.uniqueArray(told, { maxLength: 12, selector: ({ id }) => id });
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

    it("counts the same as the set of its distinct events", async () => {
      const harness = await open();
      try {
        await fc.assert(
          fc.asyncProperty(sequences, async ([events, sequence, batch]) => {
            const run = async (posted: typeof events, perCall: number) => {
              const account = await harness.newAccount();
              const mails = [await sendMail(harness, account), await sendMail(harness, account)];
              const base = harness.clock();
              harness.clock.advance(101 * 3_600_000);
              const list = posted.map(({ mail, kind, id, hours }) => ({
                email: "ann@mail.example",
                timestamp: seconds(base + hours * 3_600_000),
                event: kind,
                "smtp-id": mails[mail]?.smtpId,
                sg_event_id: `e${id}`,
              }));
              let accepted = 0;
              for (let at = 0; at < list.length; at += perCall) {
                accepted += (await postEvents(harness, account, list.slice(at, at + perCall))).accepted;
              }
              // Back, so that every run begins at the same hour of a day.
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
  },
);
