import type { SendRaw } from "../service/raw-call.ts";
import type { Transport } from "../service/transport.ts";

/** An account, and the transport for unsigned calls to it. */
export interface Account {
  readonly transport: Transport;
  /** Sends any call, also one that is not in the contract, unsigned. */
  readonly send: SendRaw;
  readonly appKey: string;
  readonly secret: string | undefined;
  /** Whether calls run in the order in which they were made. Not over HTTP, or with several database connections. */
  readonly keepsOrder: boolean;
  /** The address of the service, or the database as it is shown to users. */
  readonly target: string;
}
