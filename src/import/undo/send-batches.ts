import { ServiceError } from "../../contract/index.ts";
import type { CountedService } from "../run/recorded-run.ts";
import type { Reversal, UndoBehavior } from "./undo-behavior.ts";

/** A call that is refused as a whole takes nothing back; what is wrong with it would be wrong again. */
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
