import { createHmac } from "node:crypto";
import {
  ServiceError,
  trustedReviewerTypes,
  unauthorizedMessage,
  type ReviewerType,
  missingField,
} from "../../contract/index.ts";
import { readSecret } from "./account-secret.ts";
import { isSameSecret } from "../kernel/credentials.ts";
import { requireFeature } from "./features.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";

/** How far a signature's time may be from the service's, either way. Assumed: the specification shows no window. */
const windowMs = 15 * 60 * 1_000;

type Fields = Readonly<Record<string, unknown>>;

/**
 * What a trusted vendor says of a reviewer, where the call is signed.
 * Source: spec "Reviews", "Authentication" 5. Assumed: `reviewer_type` and `time_stamp` without a signature are passed over.
 * @returns nothing where the call has no signature
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
  if (typeof time_stamp !== "string" || time_stamp === "") throw missing("time_stamp");
  if (typeof reviewer_type !== "string" || reviewer_type === "") throw missing("reviewer_type");
  const type = trustedReviewerTypes.find((name) => name === reviewer_type);
  if (!type) {
    throw new ServiceError(
      "invalidParams",
      `reviewer_type must be one of ${trustedReviewerTypes.join(", ")}`,
    );
  }
  if (!/^\d{1,12}$/.test(time_stamp)) {
    throw new ServiceError("invalidParams", "time_stamp must be a Unix timestamp, in seconds");
  }
  const isInTime = Math.abs(Number(time_stamp) * 1_000 - context.nowMs) <= windowMs;
  const isSigned = isSameSecret(
    signature.toLowerCase(),
    sign(fields, { appKey: accountOf(context).appKey, secret: await readSecret(context) }),
  );
  if (!isInTime || !isSigned) throw new ServiceError("unauthorized", unauthorizedMessage);
  return type;
}

function missing(field: string): ServiceError {
  return missingField(field);
}

/**
 * Signs a call's fields.
 * Source: spec "Authentication" 5: hexadecimal HMAC-SHA256, keyed with the account secret.
 * Assumed: the message is every field of the call, `appkey` included and `signature` not, that is text, a number or a
 * boolean, as `name=value`, in the order of the names, with `&` between.
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
