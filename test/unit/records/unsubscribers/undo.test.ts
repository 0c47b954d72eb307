import { expect, test } from "vitest";
import { createUnsubscriberUndo } from "../../../../src/records/unsubscribers/undo.ts";
import type { Item } from "../../../../src/import/item.ts";
import type { UndoTarget } from "../../../../src/import/undo/undo-behavior.ts";
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

test("an undo finds addresses in the records of runs of earlier versions, by their lower case", () => {
  const item = { key: "", payload: { type: "1", email: "Ann@Bücher.example" } } as unknown as Item;
  const undo = createUnsubscriberUndo(false);
  const { written } = undo.targetOf(item);
  const key = "1:ann@xn--bcher-kva.example";
  const target: UndoTarget = { key, written, now: { by: "MODERATOR" }, wasSent: false, rows: 1, sureRows: 1 };
  const outcomeOf = (recorded: string) => {
    const get = (name: string) => (name === recorded ? { by: "MODERATOR" } : undefined);
    return undo.decide(target, { whyNot: undefined, startedMs: 0, get }).outcome;
  };
  const recorded = ["1:ann@bücher.example", "1:ann@xn--bcher-kva.example", "2:ann@bücher.example"];
  expect(recorded.map(outcomeOf)).toEqual(["kept", "kept", "reversed"]);
});
