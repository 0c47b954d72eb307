import { type Misnamed, UserError } from "../../../config/user-error.ts";
import { type ErrorKind, ServiceError } from "../../../contract/errors.ts";
import { ImportError } from "../../../import/import-error.ts";
import { type ExitStatus, exitStatus } from "../exit-status.ts";

/** An error as a person, a script and the shell are told of it. */
export interface Failure {
  readonly status: ExitStatus;
  readonly kind: string;
  readonly message: string;
  readonly hint?: string | undefined;
  /** A name that is not known, among those that are. */
  readonly misnamed?: Misnamed | undefined;
  /** What had been done by then, where it is worth printing. */
  readonly data?: unknown;
  /** Only for a bug. */
  readonly stack?: string | undefined;
}

const statusOfKind = {
  usage: exitStatus.usage,
  auth: exitStatus.notSignedIn,
  temporary: exitStatus.temporary,
  interrupted: exitStatus.interrupted,
  failed: exitStatus.failed,
} as const;

const refusedCredentials: ReadonlySet<ErrorKind> = new Set([
  "unauthorized",
  "invalidClient",
  "recordNotFound",
]);

const hints: Partial<Record<ErrorKind, string>> = {
  unauthorized: "Sign in again: starpost auth login.",
  invalidClient: "Check the app key and the secret, then: starpost auth login.",
  recordNotFound: "Check the app key and the address: starpost auth status.",
  unavailable: "Try again in a while.",
  timeout: "Try again in a while.",
  internal: "Try again in a while.",
  tooManyRequests: "Try again in a while, or with a lower --rate.",
  unexpectedAnswer: "Check the address of the service: starpost auth status.",
};

/** Every error's one way out of the program. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof ServiceError) {
    const { kind, message, hint = namesOther(error) ? undefined : hints[kind] } = error;
    return { status: statusOfServiceError(error), kind, message, hint };
  }
  if (error instanceof UserError) {
    const { kind, message, hint, misnamed } = error;
    return { status: statusOfKind[kind], kind, message, hint, misnamed };
  }
  if (error instanceof ImportError) {
    const { kind, message, hint, summary, misnamed } = error;
    return { status: statusOfKind[kind], kind, message, hint, data: summary, misnamed };
  }
  return describeBug(error);
}

function statusOfServiceError(error: ServiceError): ExitStatus {
  if (refusedCredentials.has(error.kind) && !namesOther(error)) return exitStatus.notSignedIn;
  return error.temporary ? exitStatus.temporary : exitStatus.failed;
}

/** A record that is not there says nothing of who asked, unless it is the account. */
function namesOther({ record }: ServiceError): boolean {
  return record !== undefined && record !== "Account";
}

function describeBug(error: unknown): Failure {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return {
    status: exitStatus.failed,
    kind: "bug",
    message: `unexpected: ${message.split("\n")[0]}`,
    hint: "This is a fault of starpost itself; --verbose shows where.",
    stack,
  };
}
