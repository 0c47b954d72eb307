import { endpointOf, type OperationName } from "../contract/index.ts";
import type { Transport } from "./transport.ts";

/** Calls that sign in, and change no data. */
const signingIn: ReadonlySet<OperationName> = new Set(["tokens.create", "core.createToken"]);

/** Whether a call changes data of the account. */
export function isWrite(operation: OperationName): boolean {
  return endpointOf(operation).effect !== "read" && !signingIn.has(operation);
}

/** Calls `notify` before each call that changes data of the account. */
export function withWriteNotice(transport: Transport, notify: () => void): Transport {
  return {
    call: async (operation, input, caller, options) => {
      if (isWrite(operation)) notify();
      return transport.call(operation, input, caller, options);
    },
    close: () => transport.close(),
  };
}
