import { createHmac } from "node:crypto";
import {
  contract,
  invalidField,
  missingField,
  type ReviewerType,
  ServiceError,
  trustedReviewerTypes,
  unauthorizedMessage,
} from "../../contract/index.ts";
import { readSecret } from "./account-secret.ts";
import { isSameSecret } from "../kernel/credentials.ts";
import { requireFeature } from "./account-settings.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { hashCall, runOnce } from "../kernel/idempotency.ts";

/** Maximum difference between the time of a signature and the current time. Assumed: the specification states none. */
const windowMs = 15 * 60 * 1_000;

type Fields = Readonly<Record<string, unknown>>;

/** The operations that accept signatures. */
type SignedOperation = "create" | "createNow";

export type SignedType = Exclude<ReviewerType, "anonymous">;

/** What a trusted vendor has signed. */
interface Signed {
  readonly reviewerType: SignedType;
  /** The signature in lower case. */
  readonly signature: string;
  /** The message that was signed. */
  readonly message: string;
}

/**
 * Checks the signature of a trusted vendor. Returns undefined if the call has none.
 * Source: spec "Reviews", "Authentication" 5. Assumed: without a signature, `reviewer_type` and `time_stamp` are ignored;
 * with one, all fields must be known, so that nothing is signed that the service would ignore.
 * @throws ServiceError `featureDisabled`, `invalidParams`, `unauthorized`
 */
export async function readSignature(
  fields: Fields,
  operation: SignedOperation,
  context: HandlerContext,
): Promise<Signed | undefined> {
  const { signature } = fields;
  if (typeof signature !== "string" || signature === "") return undefined;
  await requireFeature(context, "trusted_vendor");
  const reviewerType = readReviewerType(fields);
  const signedAtMs = readTime(fields);
  const known = contract.reviews[operation].input.shape;
  const unknown = Object.keys(fields).find((name) => !Object.hasOwn(known, name));
  if (unknown !== undefined) throw invalidField(unknown, "is not a known field; signed calls accept no others");
  const message = formatSignedMessage(fields, accountOf(context).appKey);
  const sent = signature.toLowerCase();
  const isSigned = isSameSecret(sent, sign(message, await readSecret(context)));
  if (!isSigned || Math.abs(signedAtMs - context.nowMs) > windowMs) {
    throw new ServiceError("unauthorized", unauthorizedMessage);
  }
  return { reviewerType, signature: sent, message };
}

function readReviewerType({ reviewer_type }: Fields): Signed["reviewerType"] {
  if (typeof reviewer_type !== "string" || reviewer_type === "") throw missingField("reviewer_type");
  const type = trustedReviewerTypes.find((name) => name === reviewer_type);
  if (!type) throw invalidField("reviewer_type", `must be one of ${trustedReviewerTypes.join(", ")}`);
  return type;
}

function readTime({ time_stamp }: Fields): number {
  if (typeof time_stamp !== "string" || time_stamp === "") throw missingField("time_stamp");
  if (!/^\d{1,12}$/.test(time_stamp)) throw invalidField("time_stamp", "must be a Unix timestamp in seconds");
  return Number(time_stamp) * 1_000;
}

/**
 * Formats the message that a trusted vendor signs: all fields of the call except `signature`, and `appkey`, as JSON with
 * sorted names and without white space. Fields that are null are omitted.
 * Assumed: the specification does not show the message. Text is exactly as sent; `review_score` is a number.
 */
export function formatSignedMessage({ signature: _signature, ...fields }: Fields, appKey: string): string {
  return JSON.stringify(sortNames({ ...fields, appkey: appKey }));
}

/** Sorts names by UTF-16 code units. Source: RFC 8785. */
function sortNames(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== null && inner !== undefined);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([k, v]) => [k, sortNames(v)]));
}

/** Source: spec "Authentication" 5: hexadecimal HMAC-SHA256, keyed with the account secret. */
function sign(message: string, secret: string): string {
  return createHmac("sha256", secret).update(message, "utf8").digest("hex");
}

/** Carries out calls, of which all have the reviewer type that a vendor has signed. */
type Run<Input, Output> = (
  inputs: readonly Input[],
  context: HandlerContext,
  signedType?: SignedType,
) => Promise<readonly Output[]>;

/**
 * Runs calls of an operation. A signed call is the only one, and runs once: a repeat returns the first result.
 * Assumed: a signature is accepted by the operation that received it first, and by no other. Results are stored for longer
 * than a signature is valid.
 * @throws ServiceError as `readSignature`
 */
export async function runSigned<Input extends object, Output>(
  operation: SignedOperation,
  inputs: readonly Input[],
  context: HandlerContext,
  run: Run<Input, Output>,
): Promise<readonly Output[]> {
  const signed = inputs.length === 1 ? await readSignature({ ...inputs[0] }, operation, context) : undefined;
  if (!signed) return run(inputs, context);
  const { reviewerType, signature, message } = signed;
  const endpoint = contract.reviews.create;
  const input = { message };
  const call = { input, ...hashCall({ endpoint, key: `signature ${signature}`, input }) };
  const runMany = async () => [{ operation, output: (await run(inputs, context, reviewerType))[0] }];
  const [once] = await runOnce(endpoint, [call], { runMany }, context);
  const first = once?.output as { readonly operation: string; readonly output: Output };
  if (first.operation !== operation) throw new ServiceError("unauthorized", unauthorizedMessage);
  return [first.output];
}
