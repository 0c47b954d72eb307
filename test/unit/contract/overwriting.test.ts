import { expect, test } from "vitest";
import { operations } from "../../../src/contract/index.ts";

/** Operations that write but never replace or remove what the store entrusted to the service. */
const adding = [
  "answerRequests.write",
  "answers.create",
  "answers.vote",
  "campaigns.create",
  "campaigns.resume",
  "campaigns.stop",
  "core.createToken",
  "credentials.create",
  "coupons.issue",
  "coupons.upload",
  "forms.addPhoto",
  "forms.submitQuestion",
  "forms.submitReview",
  "groups.create",
  "images.fetch",
  "images.upload",
  "links.follow",
  "emailEvents.receive",
  "emails.resend",
  "emails.send",
  "emails.sendTest",
  "myReviews.change",
  "myReviews.request",
  "questions.sendConfirmation",
  "reviewRequests.write",
  "reviewRules.add",
  "reviews.create",
  "reviews.createNow",
  "reviews.vote",
  "tokens.create",
  "tracking.click",
  "tracking.open",
  "unsubscribers.massCreate",
  "users.create",
  "webhookDeliveries.redeliver",
  "webhooks.create",
  "webhooks.trigger",
];

test("every operation that writes declares what it overwrites or destroys, or only adds", () => {
  const writes = [...operations].filter(([, { effect }]) => effect !== "read");
  const undeclared = writes.filter(([, { destroys, overwrites }]) => !destroys && !overwrites);
  expect(undeclared.map(([name]) => name).toSorted()).toEqual(adding.toSorted());
});

test("names only fields of the input in its questions", () => {
  for (const [name, { destroys, overwrites, input }] of operations) {
    const question = destroys?.question ?? overwrites?.question ?? "";
    const named = [...question.matchAll(/\{(\w+)\}/g)].map(([, field = ""]) => field);
    const { shape = {} } = input as { readonly shape?: object };
    for (const field of [...named, ...(overwrites?.ifAnyOf ?? [])])
      expect([name, Object.keys(shape)]).toEqual([name, expect.arrayContaining([field])]);
  }
});
