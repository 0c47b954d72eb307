import { endpointOf, type OperationName } from "../contract/index.ts";
import { type Transport, wrapTransport } from "./transport.ts";

/** Calls that sign in, and change no data. */
const signingIn: ReadonlySet<OperationName> = new Set(["tokens.create", "core.createToken"]);

/** Called before a call that changes data of the account; the call is not made if it throws. */
export type WriteGuard = (operation: OperationName, input: Readonly<Record<string, unknown>>) => Promise<void> | void;

/** Whether a call changes data of the account. */
export function isWrite(operation: OperationName): boolean {
  return endpointOf(operation).effect !== "read" && !signingIn.has(operation);
}

/** Calls `guard` before each call that changes data of the account. */
export function withWriteGuard(transport: Transport, guard: WriteGuard): Transport {
  return wrapTransport(transport, async (operation, input, caller, options) => {
    if (isWrite(operation)) await guard(operation, input);
    return transport.call(operation, input, caller, options);
  });
}
