import { ServiceError } from "../../contract/index.ts";
import type { CountedService } from "../run/recorded-run.ts";
import type { Reversal, UndoBehavior } from "./undo-behavior.ts";

/** If the service rejects a call, nothing in it is undone; sending it again would fail the same way. */
export async function sendThings(
  undoing: UndoBehavior,
  { service, writing }: CountedService,
  things: readonly Reversal[],
): Promise<ReadonlyMap<string, string>> {
  try {
    return await undoing.send(service, things, writing);
  } catch (error) {
    const isOfData =
      error instanceof ServiceError &&
      ["invalidParams", "bodyTooLarge", "malformedBody"].includes(error.kind);
    if (!isOfData) throw error;
    return new Map(things.map(({ key }) => [key, error.message]));
  }
}
