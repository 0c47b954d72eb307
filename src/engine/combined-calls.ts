import type { Transaction } from "kysely";
import type { OperationName } from "../contract/index.ts";
import type { Combinable } from "../storage/combined-writes.ts";
import type { Tables } from "../storage/tables.ts";
import type { CombinedHandler } from "./handlers.ts";
import type { Account, HandlerContext } from "./kernel/handler.ts";
import { type KeyedCall, runAllOnce, type runOnce } from "./kernel/idempotency.ts";

interface Caller {
  readonly operation: OperationName;
  readonly account: Account | undefined;
  readonly isChecked: boolean | undefined;
  readonly contextOf: (transaction: Transaction<Tables>) => HandlerContext;
}

/** How a call is carried out together with other waiting calls of the account. */
export function combineCalls(input: unknown, caller: Caller, handler: CombinedHandler): Combinable<unknown> {
  const { operation, account, isChecked, contextOf } = caller;
  return {
    key: `${operation} ${account?.isStore} ${isChecked}`,
    ids: [],
    input,
    workOnAll: (inputs, transaction) => handler.handleAll(inputs, contextOf(transaction)),
  };
}

/** Like `combineCalls`, for calls with an idempotency key. */
export function combineKeyedCalls(
  call: KeyedCall,
  caller: Caller,
  handler: CombinedHandler,
): Combinable<Awaited<ReturnType<typeof runOnce>>> {
  const { key } = combineCalls(call.input, caller, handler);
  return {
    key: `${key} once`,
    ids: [call.key],
    input: call,
    workOnAll: (calls, transaction) => {
      const context = caller.contextOf(transaction);
      return runAllOnce(calls as readonly KeyedCall[], context, (open) =>
        handler.handleAll(
          open.map(({ input }) => input),
          context,
        ),
      );
    },
  };
}
