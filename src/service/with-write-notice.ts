import { endpointOf, type OperationName } from "../contract/index.ts";
import type { Transport } from "./transport.ts";

/** Calls that change nothing of a shop: they prove who is calling. */
const signingIn: ReadonlySet<OperationName> = new Set(["tokens.create", "core.createToken"]);

/** Whether a call changes what the account holds. */
export function isWrite(operation: OperationName): boolean {
  return endpointOf(operation).effect !== "read" && !signingIn.has(operation);
}

/** Tells before each call that changes what the account holds; reading and signing in are passed over. */
export function withWriteNotice(transport: Transport, tell: () => void): Transport {
  return {
    call: async (operation, input, caller, options) => {
      if (isWrite(operation)) tell();
      return transport.call(operation, input, caller, options);
    },
    close: () => transport.close(),
  };
}
