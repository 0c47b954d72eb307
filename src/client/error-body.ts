import { type ErrorKind, errorKinds, type ErrorPosition } from "../contract/index.ts";

/** An error in the body of a response. */
export interface ErrorBody {
  readonly kind: ErrorKind;
  readonly message: string;
  readonly position?: ErrorPosition | undefined;
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

/** Derives the kind of an error from the HTTP status alone. */
export function kindOfHttpStatus(status: number): ErrorKind {
  return kindOfStatus[status] ?? (status >= 500 ? "internal" : "unexpectedAnswer");
}

/**
 * Parses an error in any of the three formats, or returns undefined if the body is not an error.
 * The HTTP status is not sufficient: a service may send an error with status 200.
 */
export function parseErrorBody(status: number, body: Fields): ErrorBody | undefined {
  if (typeof body["error"] === "string") {
    const kind = kindOfType.get(body["error"]) ?? kindOfHttpStatus(status);
    return { kind, message: body["error"] };
  }
  const nested = asFields(body["status"]);
  const code = Number(nested["code"]);
  if (nested["error_type"] !== undefined || code >= 400) {
    const kind = kindOfType.get(nested["error_type"]) ?? kindOfHttpStatus(status >= 400 ? status : code);
    return { kind, message: readMessage(nested, kind), position: readPosition(nested["position"]) };
  }
  if (status < 400 || !Array.isArray(body["errors"])) return undefined;
  const kind = kindOfHttpStatus(status);
  return { kind, message: readMessage(asFields(body["errors"][0]), kind) };
}

function readMessage(fields: Fields, kind: ErrorKind): string {
  return typeof fields["message"] === "string" ? fields["message"] : `the service returned the error ${kind}`;
}

function readPosition(value: unknown): ErrorPosition | undefined {
  const { field, line, column, problem } = asFields(value);
  const isPosition = typeof field === "string" && typeof problem === "string";
  if (!isPosition || !Number.isSafeInteger(line) || !Number.isSafeInteger(column)) return undefined;
  return { field, line: line as number, column: column as number, problem };
}

function asFields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}
