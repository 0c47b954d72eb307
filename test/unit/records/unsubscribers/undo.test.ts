import { expect, test } from "vitest";
import { createUnsubscriberUndo } from "../../../../src/records/unsubscribers/undo.ts";
import type { Service } from "../../../../src/service/service.ts";

test("an address rejected for one type is not reported for the type that succeeded", async () => {
  const massDelete = async () => ({
    unsubscribers: [{ id: 1, user_email: "Ann@shop.example", email_type_id: 1, unsubscirbed_by_name: "MODERATOR" }],
    errors: [{ value: "ann@shop.example", error: "unsubscribed by the user" }],
  });
  const service = { unsubscribers: { massDelete } } as unknown as Service;
  const things = ["1", "2"].map((type) => ({
    key: `${type}:ann@shop.example`,
    send: { type, email: "ann@shop.example" },
  }));
  const refused = await createUnsubscriberUndo(false).send(service, things, {});
  expect([...refused]).toEqual([["2:ann@shop.example", "unsubscribed by the user"]]);
});
