import type { Profile } from "../../../config/profile.ts";
import { usageError } from "../../../config/user-error.ts";
import { callerNames, type Endpoint, type Listing } from "../../../contract/endpoint.ts";
import { findOperation, type FoundOperation } from "../../../contract/find-operation.ts";
import type { UnsignedCall, SendSigned } from "../../../service/raw-call.ts";
import type { CallEvent, CallOptions } from "../../../service/transport.ts";
import { isWrite } from "../../../service/with-write-guard.ts";
import { printAnswer } from "./response.ts";
import { InputFiles } from "../operations/input-file.ts";
import { type FieldTree, readFields, toQuery } from "./fields.ts";
import { safeMethods, readHeaders, readTarget } from "./target.ts";
import type { Context } from "../../program/context.ts";
import type { Globals } from "../../program/global-flags.ts";
import { confirmDestruction, confirmOperation } from "../../program/confirm.ts";
import { ServiceError } from "../../../contract/errors.ts";
import { reportLimit } from "../../program/read-records.ts";
import { RowLimit, RowStream } from "../../../terminal/row-stream.ts";
import { readList } from "../../../service/listings.ts";
import { operationCards } from "../operations/operation-cards.ts";
import { print } from "../../program/output/print.ts";

/** A call as given on the command line. */
interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly field?: readonly string[] | undefined;
  readonly "raw-field"?: readonly string[] | undefined;
  readonly input?: string | undefined;
  readonly header?: readonly string[] | undefined;
  readonly paginate?: boolean | undefined;
  readonly limit?: number | undefined;
  readonly include?: boolean | undefined;
  readonly "no-auth"?: boolean | undefined;
}

interface Prepared {
  readonly call: UnsignedCall;
  readonly found: FoundOperation | undefined;
  /** All fields of the call, for the confirmation prompt. */
  readonly allFields: FieldTree;
}

/**
 * Makes one call and prints the response.
 * @throws UserError `usage`; ServiceError if the service rejects the call, after printing its response
 */
export async function runApi(context: Context, request: ApiRequest): Promise<void> {
  const { globals, io, messages } = context;
  checkFlags(request, globals);
  const prepared = await prepare(io, request, await context.profile());
  const { call, found } = prepared;
  const listed = request.paginate ? requireList(call, found) : undefined;
  await confirmIfDestructive(context, prepared);
  if (found ? isWrite(found.operation) : !safeMethods.has(call.method)) await context.announceWrite();
  const onEvent = (event: CallEvent) => {
    if (event.type === "wait" && !globals.verbose) messages.info(event.message);
  };
  await context.withConnection(async ({ send }) => {
    if (listed) {
      return printList(context, { call, list: listed, send, limit: request.limit, options: { onEvent } });
    }
    const answer = await send(call, { onEvent });
    const { status, refusal } = answer;
    await printAnswer(context, answer, request.include ?? false);
    // A redirect is the expected response of some operations; it is not followed.
    const isLeading = found?.endpoint.redirects === true && status >= 300 && status < 400;
    if (refusal && !isLeading) throw refusal;
  });
}

function checkFlags(request: ApiRequest, { format, columns }: Globals): void {
  const { paginate: isPaginated = false, include: isIncluded, limit, input } = request;
  if (!isPaginated && (format === "csv" || columns)) {
    throw usageError("the response is not a table", "Use --json, or --paginate for a list.");
  }
  if (limit !== undefined && !isPaginated) {
    throw usageError("--limit requires --paginate", "To set the page size, use a field of the call, such as count.");
  }
  if (isPaginated && (isIncluded || input !== undefined)) {
    throw usageError("--paginate cannot be used with --include or --input", "Remove one of them.");
  }
  if (input !== undefined && safeMethods.has(request.method)) {
    throw usageError(
      `--input cannot be used with ${request.method}, which has no body`,
      "Use --field, which is sent in the query.",
    );
  }
}

async function prepare(io: Context["io"], request: ApiRequest, profile: Profile): Promise<Prepared> {
  const { method } = request;
  const { path, query } = readTarget(request.path, profile);
  const found = findOperation(method, path);
  const isSecret = (name: string) => holdsSecret(found, name);
  const secret = query.find(([name]) => isSecret(name))?.[0];
  if (secret !== undefined) {
    throw usageError(
      `the path must not contain the secret ${secret}, because other users can see command lines`,
      "The profile's utoken is added automatically. Pass other secrets from a file: --field name=@file.",
    );
  }
  const headers = { accept: "*/*", ...readHeaders(request.header ?? []) };
  const files = new InputFiles(io);
  const { field: texts = [], "raw-field": rawTexts = [] } = request;
  const fields = await readFields({ fields: texts, rawFields: rawTexts, isSecret }, files);
  const body = request.input === undefined ? undefined : await files.read(request.input, "--input");
  const isInQuery = safeMethods.has(method) || body !== undefined;
  const hasFields = Object.keys(fields).length > 0;
  const call = {
    method,
    path,
    query: isInQuery ? [...query, ...toQuery(fields)] : query,
    headers,
    body: body ?? (hasFields && !isInQuery ? Buffer.from(JSON.stringify(fields)) : undefined),
    isAnonymous: request["no-auth"] === true,
  };
  const allFields = { ...Object.fromEntries(query), ...readObject(body), ...fields, ...found?.pathInput };
  return { call, found, allFields };
}

/** Whether a field holds a secret. For an unknown path, its name decides. */
function holdsSecret(found: FoundOperation | undefined, name: string): boolean {
  if ((callerNames.utoken as readonly string[]).includes(name)) return true;
  if (found) return found.endpoint.secretFields?.includes(name) === true;
  return /(?:^|[._-])(?:secret|password|token|utoken)$/i.test(name);
}

function readObject(body: Buffer | undefined): FieldTree {
  try {
    const value: unknown = JSON.parse(body?.toString("utf8") ?? "{}");
    return typeof value === "object" && value !== null ? (value as FieldTree) : {};
  } catch {
    return {};
  }
}

/**
 * Asks for confirmation of a call that destroys data or, on a live profile, replaces it. For an unknown path, every
 * DELETE is assumed to destroy, and every other method that is not safe to replace.
 */
async function confirmIfDestructive(context: Context, { call, found, allFields }: Prepared): Promise<void> {
  if (!found) {
    if (safeMethods.has(call.method)) return;
    if (call.method !== "DELETE" && !(await context.profile()).isLive) return;
    await confirmDestruction(context, `${call.method} ${call.path}? Its effect is unknown.`);
    return;
  }
  await confirmOperation(context, found.endpoint, allFields);
}

type Fields = Readonly<Record<string, unknown>>;

/** A list operation and how it is paginated. */
interface KnownList {
  readonly endpoint: Endpoint;
  readonly listing: Listing;
  /** The fields of an element. */
  readonly columns: readonly string[];
}

interface ApiList {
  readonly call: UnsignedCall;
  readonly list: KnownList;
  readonly send: SendSigned;
  readonly limit: number | undefined;
  readonly options: CallOptions;
}

/** @throws UserError `usage` if the call is not a known list operation */
function requireList({ method, path }: UnsignedCall, found: FoundOperation | undefined): KnownList {
  const { endpoint, operation, isPage = true } = found ?? {};
  const listing = endpoint?.listing;
  if (endpoint && operation && listing && !isPage && method === "GET") {
    return { endpoint, listing, columns: operationCards[operation]?.columns ?? [] };
  }
  throw usageError(
    `--paginate is not supported for ${method} ${path}`,
    "Without --paginate, one page is printed. Select it with fields of the query.",
  );
}

/**
 * Prints the elements of all pages as they arrive: as JSON, unless CSV or table columns are requested.
 * @throws UserError `usage`; ServiceError
 */
async function printList(context: Context, asked: ApiList): Promise<void> {
  const { io, globals } = context;
  const { call, list, options } = asked;
  const limit = asked.limit === undefined ? undefined : new RowLimit(asked.limit);
  const { listing, columns } = list;
  const input = Object.fromEntries(call.query);
  const pages = readList({ listing, input, limit: limit && limit.rows + 1, ask: askOf(asked) }, options);
  const isTable = globals.format === "csv" || globals.columns !== undefined;
  const format = globals.format === "table" && !isTable ? "json" : globals.format;
  const rows = new RowStream(limit ? limit.cut(pages) : pages, { columns });
  await print(io, { ...globals, format }, rows, () => ({ layout: "silent", columns, rows: [] }));
  if (limit?.isExceeded) reportLimit(context, limit.rows);
}

function askOf({ call, list: { endpoint }, send, options }: ApiList) {
  return async (input: Fields): Promise<Fields> => {
    const answer = await send({ ...call, query: changeQuery(call.query, input) }, options);
    if (answer.refusal) throw answer.refusal;
    return endpoint.reply.decode(parse(answer.bytes));
  };
}

/** The given query with the changes that select the page. */
function changeQuery(query: UnsignedCall["query"], input: Fields): UnsignedCall["query"] {
  const own: Fields = Object.fromEntries(query);
  const changed = Object.entries(input).filter(([name, value]) => own[name] !== value);
  const kept = query.filter(([name]) => changed.every(([other]) => other !== name));
  return [...kept, ...changed.map(([name, value]): [string, string] => [name, String(value)])];
}

function parse(bytes: Buffer): Record<string, unknown> {
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    throw new ServiceError("unexpectedAnswer", "the response is not JSON", { cause: error });
  }
  if (typeof body === "object" && body !== null) return body as Record<string, unknown>;
  throw new ServiceError("unexpectedAnswer", "the response is not a list");
}
