import type { Endpoint, OperationName } from "../contract/index.ts";
import type { CallLimits } from "./kernel/call-limits.ts";
import type { Account, HandlerContext } from "./kernel/handler.ts";

/** A call that anyone can make, with valid input. */
interface PublicCall {
  readonly operation: OperationName;
  readonly endpoint: Endpoint;
  readonly input: unknown;
  readonly account: Account | undefined;
  readonly ownerId: number | undefined;
  readonly clientAddress: string | undefined;
  readonly isSignUpClosed: boolean | undefined;
  /** Runs `work` in a read-only transaction. */
  readonly read: <T>(work: (context: HandlerContext) => Promise<T>) => Promise<T>;
}

/**
 * Limits a call that changes data without a token of the account. Calls that a trusted vendor has signed are not limited.
 * @throws ServiceError `tooManyRequests`; for an invalid signature, `featureDisabled`, `invalidParams`, `unauthorized`
 */
export async function limitPublicCall(call: PublicCall, limits: CallLimits): Promise<void> {
  const { endpoint, account, ownerId, clientAddress } = call;
  const { publicKind: kind } = endpoint;
  if (kind === undefined || !limits.limitsPublicCalls || account?.isStore === true || (await isSigned(call))) return;
  await limits.takeForClient(`${kind}-per-client`, clientAddress);
  // Otherwise, strangers could use up the limit of people with an invitation.
  if (kind === "sign-ups" && !call.isSignUpClosed) await limits.take([{ name: "sign-ups-per-server" }]);
  if (kind !== "submissions" && kind !== "votes") return;
  const accountId = account?.id ?? ownerId;
  // The handler rejects votes on records that do not exist.
  const ofAccount = accountId === undefined ? [] : [{ name: `${kind}-per-account`, accountId } as const];
  if (kind === "votes") return limits.take(ofAccount);
  const { email } = call.input as { readonly email: string };
  await limits.take([...ofAccount, { name: "submissions-per-recipient", recipient: email }]);
}

const signedOperations: Readonly<Partial<Record<OperationName, "create" | "createNow">>> = {
  "reviews.create": "create",
  "reviews.createNow": "createNow",
};

async function isSigned({ operation, input, read }: PublicCall): Promise<boolean> {
  const signed = signedOperations[operation];
  const fields = input as { readonly signature?: unknown };
  if (!signed || !fields.signature) return false;
  const { readSignature } = await import("./accounts/vendor-signature.ts");
  return read(async (context) => (await readSignature(fields, signed, context)) !== undefined);
}
