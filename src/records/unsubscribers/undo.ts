import { endpointOf, actorNames, emailKeyOf } from "../../contract/index.ts";
import { listUnsubscribers } from "../../service/listings.ts";
import type { Service } from "../../service/service.ts";
import type { CallOptions } from "../../service/transport.ts";
import type { Item } from "../../import/item.ts";
import type { Entry } from "../../import/undo/previous-values.ts";
import type { Decision, PreviousState, Reversal, UndoTarget, UndoBehavior } from "../../import/undo/undo-behavior.ts";

/** Identifies a subscription: the service ignores differences in spelling. */
export function keyOf(entry: { readonly email_type_id: number | string; readonly user_email: string }): string {
  return `${entry.email_type_id}:${emailKeyOf(entry.user_email)}`;
}

async function* readAddresses(service: Service, options: CallOptions): AsyncGenerator<readonly Entry[]> {
  for await (const page of listUnsubscribers(service, options)) {
    yield page.map((entry) => [keyOf(entry), { by: entry.unsubscirbed_by_name }]);
  }
}

/** Resubscribes those whom the run unsubscribed, or unsubscribes those whom it resubscribed. */
export function createUnsubscriberUndo(isRemoval: boolean): UndoBehavior {
  const { batch } = endpointOf(isRemoval ? "unsubscribers.massCreate" : "unsubscribers.massDelete");
  return {
    targetOf: ({ key, payload }: Item) => {
      const { type, email } = payload as { readonly type: string; readonly email: string };
      return { key, written: { type, email } };
    },
    previous: { read: readAddresses },
    now: readAddresses,
    decide: (thing, past) => {
      if (past.whyNot !== undefined) {
        return { outcome: "impossible", reason: `it is unknown who was unsubscribed before: ${past.whyNot}` };
      }
      return isRemoval ? decideRemoved(thing, past) : decideAdded(thing, past);
    },
    itemsACall: batch?.recommended ?? 1,
    send: async (service, things, options) => {
      const email_list: Record<string, string[]> = {};
      for (const { send } of things) (email_list[String(send["type"])] ??= []).push(String(send["email"]));
      const call = isRemoval ? service.unsubscribers.massCreate : service.unsubscribers.massDelete;
      const { errors = [], unsubscribers = [] } = await call({ email_list }, options);
      // An error names an address but not its type; addresses in the response were changed nevertheless.
      const done = new Set(unsubscribers.map(keyOf));
      const open = things.filter(({ key }) => !done.has(key));
      return new Map(errors.flatMap(({ value, error }) => keysOf(open, value).map((key) => [key, error])));
    },
  };
}

/** Runs of earlier versions recorded keys in lower case. */
function wasUnsubscribed({ key, written }: UndoTarget, past: PreviousState): boolean {
  const { type, email } = written as { readonly type: string; readonly email: string };
  return (past.get(key) ?? past.get(`${type}:${email.toLowerCase()}`)) !== undefined;
}

function decideAdded(thing: UndoTarget, past: PreviousState): Decision {
  const { written, now } = thing;
  if (wasUnsubscribed(thing, past)) return { outcome: "kept", reason: "was unsubscribed before the run" };
  const reason = "is no longer unsubscribed";
  if (!now) return asBefore(thing, reason);
  if (now["by"] === actorNames.user) {
    return { outcome: "impossible", reason: "the person has unsubscribed since, and is not resubscribed by an undo" };
  }
  return { outcome: "reversed", reason, send: written };
}

function decideRemoved(thing: UndoTarget, past: PreviousState): Decision {
  const { written, now } = thing;
  if (!wasUnsubscribed(thing, past)) return { outcome: "kept", reason: "was not unsubscribed before the run" };
  const reason = "is unsubscribed again";
  if (now) return asBefore(thing, reason);
  return { outcome: "reversed", reason, send: written };
}

/**
 * The state is as before the run: because of an interrupted undo, another change, or because the run's call had no
 * effect.
 */
function asBefore({ wasSent, sureRows }: UndoTarget, reason: string): Decision {
  if (wasSent) return { outcome: "reversed", reason };
  const why = sureRows > 0 ? `changed since: ${reason}` : "its call was never answered and had no effect";
  return { outcome: "kept", reason: why };
}

/** An error names an address or a type and applies to every target with it. */
function keysOf(things: readonly Reversal[], value: string): string[] {
  const isMeant = ({ send }: Reversal) =>
    send["type"] === value || emailKeyOf(String(send["email"])) === emailKeyOf(value);
  return things.filter(isMeant).map(({ key }) => key);
}
