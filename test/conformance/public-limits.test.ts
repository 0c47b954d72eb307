import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { publicLimits, type PublicLimits } from "../../src/contract/index.ts";
import { formatSignedMessage } from "../../src/engine/accounts/vendor-signature.ts";
import { createInvitation } from "../../src/engine/accounts/invitations.ts";
import type { Caller, CallEvent, Transport } from "../../src/service/transport.ts";
import { describeEngine, type Harness, type TestAccount, describeBackends, startMs } from "../support/backends.ts";

const review = {
  sku: "pot",
  product_title: "Pot",
  product_url: "https://shop.example/pot",
  display_name: "Ann",
  review_content: "It pours.",
  review_title: "Pours",
  review_score: 5,
};

const question = {
  product_id: "pot",
  product_title: "Pot",
  product_url: "https://shop.example/pot",
  display_name: "Ann",
  review_content: "Does it whistle?",
};

const clientAddress = "127.0.0.1";

type Attempt = (email: string, at: number) => Promise<unknown>;

/** Makes calls, and returns the errors. */
async function attempt(times: number, call: Attempt) {
  const errors: { readonly kind?: string; readonly retryAfterMs?: number }[] = [];
  for (let at = 0; at < times; at += 1) {
    await call(`n${at}@victim.example`, at).catch((error: unknown) => errors.push(error as { kind?: string }));
  }
  expect(new Set(errors.map(({ kind }) => kind))).toEqual(new Set(errors.length > 0 ? ["tooManyRequests"] : []));
  return errors;
}

const anonymous = ({ caller }: TestAccount): Caller => ({ appKey: caller.appKey });

const submitReview = ({ transport }: Harness, caller: Caller, email: string, address = clientAddress) =>
  transport.call("reviews.create", { ...review, email }, caller, { engine: { clientAddress: address } });

const ask = ({ transport }: Harness, caller: Caller, email: string) =>
  transport.call("questions.sendConfirmation", { ...question, email }, caller, { engine: { clientAddress } });

async function countEmails({ database }: Harness): Promise<number> {
  const emails = await database.db
    .selectFrom("mails")
    .select("id")
    .where("email", "like", "%@victim.example")
    .execute();
  return emails.length;
}

const only = (name: keyof typeof publicLimits, burst: number): PublicLimits => ({ [name]: { burst, perHour: 60 } });

describeEngine(
  "the default limits of public calls",
  (harness) => {
    it("let one client send 20 emails with 500 reviews and questions, and then one every three minutes", async () => {
      const { clock } = harness();
      const [one, other] = [await harness().newAccount(), await harness().newAccount()];
      const errors = await attempt(500, (email, at) =>
        at % 2 === 0
          ? submitReview(harness(), anonymous(one), email)
          : ask(harness(), anonymous(at % 4 === 1 ? one : other), email),
      );
      expect([errors.length, await countEmails(harness())]).toEqual([480, 20]);
      expect(errors[0]?.retryAfterMs).toBe(180_000);
      clock.advance(180_000);
      expect(await attempt(9, (email) => submitReview(harness(), anonymous(one), `x${email}`))).toHaveLength(8);
    });

    it("do not apply to the store's token", async () => {
      const { caller, service } = await harness().newAccount();
      expect(await attempt(25, (email) => service.reviews.createNow({ ...review, email }))).toEqual([]);
      const { transport } = harness();
      const answered = await attempt(25, (email) =>
        transport.call("reviews.createNow", { ...review, email: "same@mail.example", domain: email }, caller, {
          engine: { clientAddress },
        }),
      );
      expect(answered).toEqual([]);
    });

    it("apply to calls with an invalid token", async () => {
      const { caller } = await harness().newAccount();
      const guess = { ...caller, utoken: "guess" };
      const { transport } = harness();
      await attempt(30, (email) =>
        transport.call("reviews.createNow", { ...review, email }, guess, { engine: { clientAddress: "192.0.2.1" } }),
      ).then((errors) => expect(errors.length).toBeGreaterThan(0));
    });
  },
  { publicLimits },
);

describeEngine(
  "the limit of reviews and questions per account",
  (harness) => {
    it("bounds the emails that many clients cause, and does not affect other accounts", async () => {
      const [one, other] = [await harness().newAccount(), await harness().newAccount()];
      const errors = await attempt(9, (email, at) =>
        submitReview(harness(), anonymous(one), email, `198.51.100.${at}`),
      );
      expect([errors.length, errors[0]?.retryAfterMs]).toEqual([6, 60_000]);
      expect(await attempt(3, (email) => ask(harness(), anonymous(other), email))).toEqual([]);
    });

    it("counts repeats with an idempotency key once, also those at the same time", async () => {
      const [account, other] = [await harness().newAccount(), await harness().newAccount()];
      const { transport } = harness();
      const submit = (email: string, idempotencyKey = "0".repeat(22)) =>
        transport.call("reviews.create", { ...review, email }, anonymous(account), {
          idempotencyKey,
          engine: { clientAddress },
        });
      const results = await Promise.all([1, 2, 3, 4].map(() => submit("a@victim.example")));
      expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
      expect(await attempt(4, () => submit("a@victim.example"))).toEqual([]);
      expect(await attempt(1, () => submit("a@victim.example", "1".repeat(22)))).toEqual([]);
      expect(await attempt(3, (email) => submit(email))).toHaveLength(2);
      // What was counted can still be repeated.
      expect(await submit("a@victim.example")).toEqual(results[0]);
      expect((await account.service.reviews.list({})).reviews).toHaveLength(3);
      expect(await attempt(1, (email) => submitReview(harness(), anonymous(other), email))).toEqual([]);
    });
  },
  { publicLimits: only("submissions-per-account", 3) },
);

describeEngine(
  "the limit of reviews and questions per recipient",
  (harness) => {
    it("holds across accounts, spellings, and tags of an address", async () => {
      const [one, other] = [await harness().newAccount(), await harness().newAccount()];
      const spellings = [
        "Bob@mail.example",
        "bob@MAIL.example",
        "bob+tag@mail.example",
        "bob@ｍail.example",
        "ｂob@mail。example",
      ];
      const errors = await attempt(9, (_email, at) => {
        const email = spellings[at % spellings.length] ?? "";
        return at % 2 === 0 ? ask(harness(), anonymous(one), email) : submitReview(harness(), anonymous(other), email);
      });
      expect(errors).toHaveLength(6);
      expect(await attempt(9, (email) => submitReview(harness(), anonymous(one), email))).toEqual([]);
    });

    it("stores no address", async () => {
      await submitReview(harness(), anonymous(await harness().newAccount()), "carol@mail.example");
      const rows = await harness().database.db.selectFrom("token_buckets").select("name").execute();
      expect(JSON.stringify(rows)).not.toContain("mail");
    });
  },
  { publicLimits: only("submissions-per-recipient", 3) },
);

describeEngine(
  "the limit of sign-ups per server",
  (harness) => {
    it("bounds the accounts that many clients create", async () => {
      const user = { display_name: "Zoe", password: "p", url: "https://shop.example" };
      const errors = await attempt(5, (email, at) => {
        const from = { engine: { clientAddress: `198.51.100.${at}` } };
        return harness().transport.call("users.create", { user: { ...user, email } }, {}, from);
      });
      expect([errors.length, errors[0]?.retryAfterMs]).toEqual([2, 60_000]);
    });
  },
  { publicLimits: only("sign-ups-per-server", 3) },
);

describeEngine(
  "the limit of sign-ups per server, with invitations",
  (harness) => {
    it("cannot be used up by people without one", async () => {
      const user = { display_name: "Zoe", password: "p", url: "https://shop.example" };
      const signUp = (email: string, code: string) =>
        harness().transport.call("users.create", { user: { ...user, email, invitation_code: code } }, {});
      for (const email of ["a@mail.example", "b@mail.example"]) {
        await expect(signUp(email, "wrong")).rejects.toMatchObject({ kind: "featureDisabled" });
      }
      const { code } = await harness().work.write(undefined, (context) => createInvitation(60_000, context));
      expect(await signUp("zoe@mail.example", code)).toMatchObject({ app_key: expect.any(String) });
    });
  },
  { publicLimits: only("sign-ups-per-server", 1), isSignUpClosed: true },
);

describeEngine(
  "the limits of votes",
  (harness) => {
    it("bound the votes on reviews and answers of an account", async () => {
      const { service, caller } = await harness().newAccount();
      const { reviews } = await service.reviews.createNow({ ...review, email: "ann@mail.example" });
      const review_id = reviews[0]?.id ?? expect.unreachable();
      const { transport } = harness();
      const vote = (token: Caller) =>
        transport.call("reviews.vote", { review_id, vote_type: "up" }, token, { engine: { clientAddress } });
      expect(await attempt(9, () => vote({}))).toHaveLength(6);
      expect(await attempt(9, () => vote(caller))).toHaveLength(9);
      await expect(
        transport.call("answers.vote", { answer_id: 999_999, vote_type: "up" }, {}, { engine: { clientAddress } }),
      ).rejects.toMatchObject({ kind: "recordNotFound" });
    });
  },
  { publicLimits: only("votes-per-account", 3) },
);

describeEngine(
  "the limit of failed authentication",
  (harness) => {
    it("refuses further failures of the client, but no valid call of the store", async () => {
      const { caller, secret, service } = await harness().newAccount();
      const { transport } = harness();
      const options = { engine: { clientAddress } };
      const kinds: string[] = [];
      for (let at = 0; at < 19; at += 1) {
        const wrong = [
          transport.call("orders.list", {}, { ...caller, utoken: "guess" }, options),
          transport.call("core.createToken", { secret: "guess" }, { appKey: caller.appKey }, options),
          transport.call("users.signIn", { secret: "guess" }, { appKey: caller.appKey }, options),
          transport.call("orders.list", {}, { appKey: "nobody", utoken: "guess" }, options),
          transport.call(
            "tokens.create",
            { client_id: caller.appKey, client_secret: "guess", grant_type: "client_credentials" },
            {},
            options,
          ),
        ];
        for (const result of await Promise.allSettled(wrong)) {
          if (result.status === "rejected") kinds.push((result.reason as { readonly kind: string }).kind);
        }
        await service.orders.list({});
      }
      expect([kinds.length, kinds.filter((kind) => kind !== "tooManyRequests").length]).toEqual([95, 7]);
      const grant = { client_id: caller.appKey, client_secret: secret, grant_type: "client_credentials" };
      await transport.call("tokens.create", grant, {}, options);
    });
  },
  { publicLimits: only("failures-per-client", 7), enforceLimits: true, limitLegacy: false },
);

describeEngine(
  "the limit of failures, for signatures",
  (harness) => {
    it("refuses signatures without verifying them once it is exceeded, until there is a token again", async () => {
      const { caller, secret, service } = await harness().newAccount();
      await service.account.setFeature({ feature: "trusted_vendor", enabled: true });
      const { transport, clock } = harness();
      const send = (at: number, key: string) => {
        const fields = {
          ...review,
          email: "ann@mail.example",
          reviewer_type: "verified_buyer" as const,
          time_stamp: String(Math.floor(clock() / 1_000)),
          user_reference: String(at),
        };
        const message = formatSignedMessage(fields, caller.appKey ?? "");
        const signature = createHmac("sha256", key).update(message).digest("hex");
        const call = transport.call(
          "reviews.createNow",
          { ...fields, signature },
          { appKey: caller.appKey },
          {
            engine: { clientAddress },
          },
        );
        return call.then(
          () => "created",
          (error: unknown) => (error as { readonly kind: string }).kind,
        );
      };
      const kinds: string[] = [];
      for (const key of [secret, secret, secret, "guess", "guess", secret, "guess", "guess", secret]) {
        kinds.push(await send(kinds.length, key));
      }
      const [created, invalid, refused] = ["created", "unauthorized", "tooManyRequests"];
      expect(kinds).toEqual([created, created, created, invalid, invalid, created, invalid, refused, refused]);
      clock.advance(60_000);
      expect([await send(9, secret), await send(10, "guess"), await send(11, secret)]).toEqual([
        created,
        invalid,
        refused,
      ]);
    });
  },
  { publicLimits: only("failures-per-client", 3) },
);

/** Calls an operation, and returns its outcome and the limit events that it reported. */
async function callOperation(
  transport: Transport,
  { caller }: TestAccount,
  operation: "orders.list" | "core.listProducts" = "orders.list",
) {
  const events: CallEvent[] = [];
  const onEvent = (event: CallEvent) => {
    if (event.type === "limit") events.push(event);
  };
  const outcome = await transport.call(operation, {}, caller, { onEvent }).then(
    () => "answered",
    (error: unknown) => (error as { kind?: string }).kind,
  );
  return { outcome, events };
}

describeBackends(
  "the optional limit on other operations",
  (harness) => {
    it("allows five requests a second per account, and reports the remaining number", async () => {
      const { newAccount, transport, clock } = harness();
      const account = await newAccount();
      const limitEvents = (remaining: number) => [{ type: "limit", remaining, resetAtSeconds: startMs / 1_000 + 1 }];
      for (const remaining of [4, 3, 2, 1, 0]) {
        expect(await callOperation(transport, account)).toEqual({
          outcome: "answered",
          events: limitEvents(remaining),
        });
      }
      expect(await callOperation(transport, account)).toEqual({ outcome: "tooManyRequests", events: limitEvents(0) });
      clock.advance(1_000);
      expect((await callOperation(transport, account)).outcome).toBe("answered");
    });

    it("counts separately from the core API's limit, and for each account", async () => {
      const { newAccount, transport } = harness();
      const [one, other] = [await newAccount(), await newAccount()];
      for (let call = 0; call < 5; call += 1) await callOperation(transport, one);
      expect((await callOperation(transport, one)).outcome).toBe("tooManyRequests");
      expect((await callOperation(transport, one, "core.listProducts")).outcome).toBe("answered");
      expect((await callOperation(transport, other)).outcome).toBe("answered");
    });

    it("does not count calls with an invalid token or secret", async () => {
      const { newAccount, transport } = harness();
      const account = await newAccount();
      const guess = { ...account, caller: { ...account.caller, utoken: "guess" } };
      for (let call = 0; call < 8; call += 1) {
        expect((await callOperation(transport, guess)).outcome).toBe("unauthorized");
        const signIn = transport.call("users.signIn", { secret: "guess" }, { appKey: account.caller.appKey });
        await expect(signIn).rejects.toMatchObject({ kind: "unauthorized" });
      }
      const outcomes = [];
      for (let call = 0; call < 6; call += 1) outcomes.push((await callOperation(transport, account)).outcome);
      expect(outcomes).toEqual([...Array.from({ length: 5 }, () => "answered"), "tooManyRequests"]);
    });

    it("counts calls without a token separately, and does not affect operations without an app key", async () => {
      const { newAccount, transport } = harness();
      const account = await newAccount();
      const read = () => transport.call("reviews.top", {}, { appKey: account.caller.appKey });
      for (let call = 0; call < 5; call += 1) await read();
      await expect(read()).rejects.toMatchObject({ kind: "tooManyRequests" });
      expect((await callOperation(transport, account)).outcome).toBe("answered");
      for (let call = 0; call < 6; call += 1) {
        await expect(transport.call("users.get", { user_id: account.userId }, {})).resolves.toBeDefined();
      }
    });
  },
  { enforceLimits: true, limitLegacy: true },
);

describeBackends(
  "the default limits",
  (harness) => {
    it("does not affect or report limits on other operations", async () => {
      const { newAccount, transport } = harness();
      const account = await newAccount();
      for (let call = 0; call < 12; call += 1) {
        expect(await callOperation(transport, account)).toEqual({ outcome: "answered", events: [] });
      }
    });

    it("rejects an unknown store, and a store ID with unusual characters", async () => {
      const { transport } = harness();
      for (const appKey of ["nobody", "a\0b", "\u{1f600}"]) {
        const call = transport.call("core.listProducts", {}, { appKey, utoken: "x" });
        await expect(call).rejects.toMatchObject({ kind: "recordNotFound" });
      }
    });
  },
  { enforceLimits: true },
);

describeEngine(
  "the limit of the CPU time per client",
  (harness) => {
    it("refuses calls without a valid token beyond it, until it is refilled", async () => {
      const { transport, clock, newAccount } = harness();
      const { caller } = await newAccount();
      const render = (appKey: string | undefined, address: string) =>
        transport.call(
          "batch.run",
          { methods: [{ method: "main_widget", params: { pid: "pot" } }] },
          { appKey },
          {
            engine: { clientAddress: address },
          },
        );
      const renderOften = () => attempt(50, () => render(caller.appKey, clientAddress));
      const errors = await renderOften();
      expect(errors.length).toBeGreaterThan(30);
      expect(errors.at(-1)?.retryAfterMs).toBeGreaterThan(0);
      await render(caller.appKey, "192.0.2.1");
      await transport.call("reviews.list", {}, caller, { engine: { clientAddress } });
      await transport.call("batch.run", { methods: [] }, { appKey: caller.appKey }, {});
      clock.advance(60_000);
      await render(caller.appKey, clientAddress);
    });
  },
  { publicLimits: only("cpu-ms-per-client", 10) },
);
