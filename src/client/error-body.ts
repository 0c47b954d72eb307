import { type ErrorKind, errorKinds } from "../contract/index.ts";

/** What an answer that is JSON says went wrong. */
export interface ErrorBody {
  readonly kind: ErrorKind;
  readonly message: string;
}

type Fields = Readonly<Record<string, unknown>>;

const kindOfType: ReadonlyMap<unknown, ErrorKind> = new Map(
  Object.entries(errorKinds).map(([kind, { type }]) => [type, kind as ErrorKind]),
);

const kindOfStatus: Readonly<Record<number, ErrorKind>> = {
  400: "invalidParams",
  401: "unauthorized",
  403: "unauthorized",
  404: "recordNotFound",
  405: "methodNotAllowed",
  408: "timeout",
  413: "bodyTooLarge",
  415: "unsupportedMediaType",
  422: "invalidParams",
  429: "tooManyRequests",
  500: "internal",
  502: "unavailable",
  503: "unavailable",
  504: "timeout",
  507: "storageFailed",
};

/** The kind of an error of which nothing but the HTTP status is known. */
export function kindOfHttpStatus(status: number): ErrorKind {
  return kindOfStatus[status] ?? (status >= 500 ? "internal" : "unexpectedAnswer");
}

/**
 * Reads an error in one of the wire's three forms, or nothing where the body is none of them.
 * The status line alone does not tell: a service may answer 200 with an error for a body.
 */
export function readErrorBody(status: number, body: Fields): ErrorBody | undefined {
  if (typeof body["error"] === "string") {
    const kind = kindOfType.get(body["error"]) ?? kindOfHttpStatus(status);
    return { kind, message: body["error"] };
  }
  const inside = asFields(body["status"]);
  const code = Number(inside["code"]);
  if (inside["error_type"] !== undefined || code >= 400) {
    const kind = kindOfType.get(inside["error_type"]) ?? kindOfHttpStatus(status >= 400 ? status : code);
    return { kind, message: readMessage(inside, kind) };
  }
  if (status < 400 || !Array.isArray(body["errors"])) return undefined;
  const kind = kindOfHttpStatus(status);
  return { kind, message: readMessage(asFields(body["errors"][0]), kind) };
}

function readMessage(fields: Fields, kind: ErrorKind): string {
  return typeof fields["message"] === "string" ? fields["message"] : `the service answers ${kind}`;
}

function asFields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}
