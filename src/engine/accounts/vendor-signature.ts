import { createHmac } from "node:crypto";
import {
  ServiceError,
  trustedReviewerTypes,
  unauthorizedMessage,
  type ReviewerType,
  missingField,
  invalidField,
} from "../../contract/index.ts";
import { readSecret } from "./account-secret.ts";
import { isSameSecret } from "../kernel/credentials.ts";
import { requireFeature } from "./features.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";

/** Maximum difference between the time of a signature and the current time. Assumed: the specification states none. */
const windowMs = 15 * 60 * 1_000;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns the reviewer type that a trusted vendor has signed, or undefined if the call has no signature.
 * Source: spec "Reviews", "Authentication" 5. Assumed: without a signature, `reviewer_type` and `time_stamp` are ignored.
 * @throws ServiceError `featureDisabled`, `invalidParams`, `unauthorized`
 */
export async function readTrustedType(
  fields: Fields,
  context: HandlerContext,
): Promise<Exclude<ReviewerType, "anonymous"> | undefined> {
  const { signature } = fields;
  if (typeof signature !== "string" || signature === "") return undefined;
  await requireFeature(context, "trusted_vendor");
  const { time_stamp, reviewer_type } = fields;
  if (typeof time_stamp !== "string" || time_stamp === "") throw missingField("time_stamp");
  if (typeof reviewer_type !== "string" || reviewer_type === "") throw missingField("reviewer_type");
  const type = trustedReviewerTypes.find((name) => name === reviewer_type);
  if (!type) {
    throw invalidField("reviewer_type", `must be one of ${trustedReviewerTypes.join(", ")}`);
  }
  if (!/^\d{1,12}$/.test(time_stamp)) {
    throw invalidField("time_stamp", "must be a Unix timestamp in seconds");
  }
  const isInTime = Math.abs(Number(time_stamp) * 1_000 - context.nowMs) <= windowMs;
  const isSigned = isSameSecret(
    signature.toLowerCase(),
    sign(fields, { appKey: accountOf(context).appKey, secret: await readSecret(context) }),
  );
  if (!isInTime || !isSigned) throw new ServiceError("unauthorized", unauthorizedMessage);
  return type;
}

/**
 * Signs the fields of a call.
 * Source: spec "Authentication" 5: hexadecimal HMAC-SHA256, keyed with the account secret.
 * Assumed: the message consists of all string, number, and boolean fields except `signature`, including `appkey`,
 * formatted as `name=value`, sorted by name, and joined with `&`.
 */
export function sign(
  { signature: _signature, ...fields }: Fields,
  { appKey, secret }: { readonly appKey: string; readonly secret: string },
): string {
  const message = Object.entries({ ...fields, appkey: appKey })
    .filter(([, value]) => ["string", "number", "boolean"].includes(typeof value))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
  return createHmac("sha256", secret).update(message, "utf8").digest("hex");
}
