import { expect, it } from "vitest";
import { contract, type OperationName } from "../../src/contract/index.ts";
import { createWebhookQueue } from "../../src/engine/webhooks/webhook-queue.ts";
import { createService, type Service } from "../../src/service/service.ts";
import type { Transport } from "../../src/service/transport.ts";
import { describeIsolated, type Harness } from "../support/backends.ts";
import { aReview } from "../support/builders.ts";
import { createWorker } from "../support/due-emails.ts";
import { createLinkTokens, createOrderEmails } from "../support/email-links.ts";
import { aQuestion, lastToken } from "../support/emails.ts";
import { callEveryOperation } from "../support/every-call.ts";
import { tinyPng } from "../support/photos.ts";

type Calls = Map<OperationName, readonly [input: never, caller: object]>;

/** Records the last successful call of each operation, except those that unsubscribe. */
function record(transport: Transport, calls: Calls): Transport {
  return {
    ...transport,
    call: async (operation, input, caller, options) => {
      const output = await transport.call(operation, input, caller, options);
      const isUnsubscription = JSON.stringify(output).includes('"kind":"unsubscribe"');
      if (!isUnsubscription) calls.set(operation, [input as never, caller]);
      return output;
    },
  };
}

async function setDisabled({ database, clock }: Harness, isDisabled: boolean): Promise<void> {
  const disabled_at = isDisabled ? clock() : null;
  await database.db.updateTable("accounts").set({ disabled_at }).execute();
}

/** Repeats calls about records that calls of other operations have deleted or erased. */
async function replaceDeleted(harness: Harness, service: Service): Promise<void> {
  const { image_upload_token } = await service.reviews.create(aReview({ email: "bo@mail.example" }));
  const { image } = await service.images.upload({ image_upload_token, image: tinyPng });
  await service.links.follow({ token: await lastToken(harness, "verify_url") });
  await service.images.get({ image_id: image.id });
  await service.questions.sendConfirmation(aQuestion({ email: "bo@mail.example" }));
  await service.links.follow({ token: await lastToken(harness, "confirm_url") });
  const { questions } = await service.questions.list({ sku: "teapot" });
  const { answer } = await service.answers.create({ question_id: questions[0]?.id ?? 0, content: "Yes" });
  await service.answers.vote({ answer_id: answer.id, vote_type: "up" });
}

const refusal = { kind: "featureDisabled" };

describeIsolated("a disabled account", (harness) => {
  it("refuses every operation, also those without its app key", async () => {
    const account = await harness().newAccount();
    const calls: Calls = new Map();
    const service = createService(record(harness().transport, calls), account.caller);
    await callEveryOperation(harness(), { ...account, service });
    await replaceDeleted(harness(), service);
    await setDisabled(harness(), true);
    expect(calls.delete("users.create")).toBe(true);
    for (const [operation, [input, caller]] of calls) {
      // Errors of the core API carry no kind.
      const kind = operation.startsWith("core.")
        ? expect.toBeOneOf(["featureDisabled", "unauthorized"])
        : "featureDisabled";
      await expect(harness().transport.call(operation, input, caller), operation).rejects.toMatchObject({ kind });
    }
    const all = Object.entries(contract).flatMap(([group, verbs]) =>
      Object.keys(verbs).map((verb) => `${group}.${verb}` as OperationName),
    );
    expect(all.filter((name) => !calls.has(name))).toEqual(["users.create"]);
  });

  it("answers again once it is enabled, and does not affect other accounts", async () => {
    const { caller } = await harness().newAccount();
    await setDisabled(harness(), true);
    const other = await harness().newAccount();
    expect(await other.service.coupons.list({})).toEqual({ coupons: [] });
    await expect(harness().service(caller).coupons.list({})).rejects.toMatchObject(refusal);
    await setDisabled(harness(), false);
    expect(await harness().service(caller).coupons.list({})).toEqual({ coupons: [] });
  });

  it("sends no emails and webhooks until it is enabled, and does not keep workers busy", async () => {
    const { service } = await harness().newAccount();
    await service.webhooks.create({ event_name: "review_create", url: "https://shop.example/hook" });
    await service.reviews.create(aReview());
    const queued = (await harness().database.db.selectFrom("mails").select("id").execute()).length;
    await setDisabled(harness(), true);
    const emails = createWorker(harness());
    const webhooks = createWebhookQueue(harness().work, { worker: "worker", leaseMs: 60_000 });
    const begin = async () => [(await emails.claim(100)).emails.length, (await webhooks.begin(100)).length];
    expect(await begin()).toEqual([0, 0]);
    expect([await emails.nextDueAt(), await webhooks.nextDueAt()]).toEqual([undefined, undefined]);
    await setDisabled(harness(), false);
    expect(await begin()).toEqual([queued, 1]);
  });

  it("sends none of the emails that a worker has already claimed", async () => {
    const { service } = await harness().newAccount();
    await service.reviews.create(aReview());
    const worker = createWorker(harness());
    const [first] = (await worker.claim(100)).emails;
    await setDisabled(harness(), true);
    expect((await worker.step([], first?.email.id)).hasBegun).toBe(false);
    const permissions = harness().database.db.selectFrom("email_permissions").select("quota_used");
    expect(await permissions.execute()).toEqual([{ quota_used: 0 }]);
    await setDisabled(harness(), false);
    harness().clock.advance(3_600_000);
    expect((await createWorker(harness()).claim(100)).emails.map(({ email }) => email.id)).toContain(first?.email.id);
  });

  it("keeps leases of a lost worker until it is enabled", async () => {
    const { service } = await harness().newAccount();
    await service.reviews.create(aReview());
    const { emails } = await createWorker(harness(), "lost").claim(100);
    expect(emails).not.toEqual([]);
    await setDisabled(harness(), true);
    harness().clock.advance(3_600_000);
    expect(await createWorker(harness()).claim(100)).toMatchObject({ emails: [], recovered: 0 });
    await setDisabled(harness(), false);
    expect(await createWorker(harness()).claim(100)).toMatchObject({ recovered: emails.length });
  });

  it("lets people unsubscribe", async () => {
    const account = await harness().newAccount();
    const [email] = await createOrderEmails(harness(), account);
    const token = createLinkTokens(harness(), email ?? expect.fail("no email")).unsubscribe();
    await setDisabled(harness(), true);
    const { link } = await harness().service({}).links.follow({ token });
    expect(link.state).toBe("done");
    expect(await harness().database.db.selectFrom("unsubscribers").select("email").execute()).toHaveLength(1);
  });
});
