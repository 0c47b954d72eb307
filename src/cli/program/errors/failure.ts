import { type Misnamed, UserError } from "../../../config/user-error.ts";
import { credentialErrors, type ErrorKind, type RecordName, ServiceError } from "../../../contract/errors.ts";
import { ImportError } from "../../../import/import-error.ts";
import { type ExitStatus, exitStatus } from "../exit-status.ts";

/** An error as reported to a person, a script, and the shell. */
export interface Failure {
  readonly status: ExitStatus;
  readonly kind: string;
  readonly message: string;
  readonly hint?: string | undefined;
  /** An unknown name, with the known ones. */
  readonly misnamed?: Misnamed | undefined;
  /** Whether the message quotes cells of a file. */
  readonly quotesCells?: boolean;
  /** The summary of the work done before the error. */
  readonly data?: unknown;
  /** Only set for a bug. */
  readonly stack?: string | undefined;
}

const statusOfKind = {
  usage: exitStatus.usage,
  auth: exitStatus.notSignedIn,
  temporary: exitStatus.temporary,
  interrupted: exitStatus.interrupted,
  failed: exitStatus.failed,
} as const;

/** What to do about an error that states nothing itself. */
export const defaultHints: Partial<Record<ErrorKind, string>> = {
  unauthorized: "To sign in again, run `starpost auth login`.",
  roleDenied: "Ask the owner of the account to do it, or for a credential with another role.",
  invalidClient: "Check the app key and secret, then run `starpost auth login`.",
  recordNotFound: "Check the app key and the address: starpost auth status.",
  unavailable: "Try again later.",
  timeout: "Try again later.",
  internal: "Try again later.",
  tooManyRequests: "Try again later, or with a lower --rate.",
  unexpectedAnswer: "Check the address of the service: starpost auth status.",
};

/** What to do about a missing record. */
export const listHints = {
  Answer: "To list the questions with their answers, run `starpost questions list --json`.",
  Campaign: "To list the campaigns, run `starpost mail campaign list`.",
  Coupon: "To upload codes, run `starpost coupons import <file> --action <action>`.",
  Credential: "To list the credentials, run `starpost account credentials`.",
  Delivery: "To list the deliveries, run `starpost webhooks deliveries`.",
  Mail: "To list the emails, run `starpost mail list`.",
  Order: "To list the orders, run `starpost orders list`.",
  ProductsApp: "To list the products, run `starpost products list`.",
  ProductsGroup: "To list the groups, run `starpost groups list`.",
  Question: "To list the questions, run `starpost questions list`.",
  Review: "To list the reviews, run `starpost reviews list`.",
  Rule: "To list the rules, run `starpost reviews rules list`.",
  Webhook: "To list the webhooks, run `starpost webhooks list`.",
} as const satisfies Partial<Record<RecordName, string>>;

/** Describes any error. Hints are complete sentences, so they start with a capital letter. */
export function describeFailure(error: unknown): Failure {
  const failure = classify(error);
  const { hint } = failure;
  return hint === undefined ? failure : { ...failure, hint: hint.charAt(0).toUpperCase() + hint.slice(1) };
}

function classify(error: unknown): Failure {
  if (error instanceof ServiceError) {
    const { kind, message, record = "Account" } = error;
    const known: Partial<Record<RecordName, string>> = listHints;
    const { hint = namesOther(error) ? known[record] : defaultHints[kind] } = error;
    return { status: statusOfServiceError(error), kind, message, hint };
  }
  if (error instanceof UserError) {
    const { kind, message, hint, misnamed } = error;
    return { status: statusOfKind[kind], kind, message, hint, misnamed };
  }
  if (error instanceof ImportError) {
    const { kind, message, hint, summary, misnamed, quotesCells } = error;
    return { status: statusOfKind[kind], kind, message, hint, data: summary, misnamed, quotesCells };
  }
  return describeBug(error);
}

function statusOfServiceError(error: ServiceError): ExitStatus {
  if (credentialErrors.has(error.kind) && !namesOther(error)) return exitStatus.notSignedIn;
  return error.temporary ? exitStatus.temporary : exitStatus.failed;
}

/** Whether a missing record is something other than the account, and thus unrelated to the credentials. */
function namesOther({ record }: ServiceError): boolean {
  return record !== undefined && record !== "Account";
}

function describeBug(error: unknown): Failure {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return {
    status: exitStatus.failed,
    kind: "bug",
    message: `unexpected error: ${message.split("\n")[0]}`,
    hint: "This is a bug in starpost. To see the stack trace, add --verbose.",
    stack,
  };
}
