import type { Profile } from "../../../config/profile.ts";
import { UserError } from "../../../config/user-error.ts";
import { callerNames } from "../../../contract/endpoint.ts";
import { findOperation, type FoundOperation } from "../../../contract/find-operation.ts";
import type { UnsignedCall } from "../../../service/raw-call.ts";
import type { CallEvent } from "../../../service/transport.ts";
import { isWrite } from "../../../service/with-write-notice.ts";
import { printAnswer } from "./response.ts";
import { type FieldTree, GivenFiles, readFields, toQuery } from "./fields.ts";
import { printList, requireList } from "./list.ts";
import { safeMethods, readHeaders, readTarget } from "./target.ts";
import type { Context } from "../../program/context.ts";
import type { Globals } from "../../program/global-flags.ts";
import { confirmByName, confirmDestruction } from "../../program/confirm.ts";

/** A call as the command line has it. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly fields: readonly string[];
  readonly rawFields: readonly string[];
  readonly input: string | undefined;
  readonly headers: readonly string[];
  readonly isPaginated: boolean;
  readonly limit: number | undefined;
  readonly isIncluded: boolean;
  readonly isAnonymous: boolean;
}

interface Prepared {
  readonly call: UnsignedCall;
  readonly found: FoundOperation | undefined;
  /** What the call says, for a question about it. */
  readonly said: FieldTree;
}

/**
 * Makes one call as it was asked for, and prints what is answered.
 * @throws UserError `usage`; ServiceError where the service refuses, once its answer was printed
 */
export async function runApi(context: Context, request: ApiRequest): Promise<void> {
  const { globals, io, messages } = context;
  refuseContradictions(request, globals);
  const prepared = await prepare(io, request, await context.profile());
  const { call, found } = prepared;
  const listed = request.isPaginated ? requireList(call, found) : undefined;
  await askFirst(context, prepared);
  if (found ? isWrite(found.operation) : !safeMethods.has(call.method)) await context.announceWrite();
  const onEvent = (event: CallEvent) => {
    if (event.type === "wait") messages.info(event.message);
  };
  const connection = await context.connect();
  try {
    if (globals.verbose) messages.info(`> ${call.method} ${call.path}`);
    const { send } = connection;
    if (listed) {
      await printList(context, { call, list: listed, send, limit: request.limit, options: { onEvent } });
      return;
    }
    const answer = await send(call, { onEvent });
    const { status, headers, bytes, refusal } = answer;
    if (globals.verbose) {
      messages.info(`< ${status} ${headers["content-type"] ?? "without a type"}, ${bytes.length} bytes`);
    }
    await printAnswer(context, answer, request.isIncluded);
    // A page that leads on is answered as it should be; its target is not called.
    const isLeading = found?.endpoint.redirects === true && status >= 300 && status < 400;
    if (refusal && !isLeading) throw refusal;
  } finally {
    await connection.close();
  }
}

function refuseContradictions(request: ApiRequest, { format, columns }: Globals): void {
  const { isPaginated, isIncluded, limit, input } = request;
  const refuse = (what: string, hint: string) => {
    throw new UserError("usage", what, hint);
  };
  if (!isPaginated && (format === "csv" || columns)) {
    refuse("what is answered is no table", "Take --json, or --paginate where it is a list.");
  }
  if (limit !== undefined && !isPaginated) {
    refuse("--limit goes with --paginate", "How much one page has is a field of the call, such as count.");
  }
  if (isPaginated && (isIncluded || input !== undefined)) {
    refuse("--paginate goes with neither --include nor --input", "Leave one of them out.");
  }
  if (input !== undefined && safeMethods.has(request.method)) {
    refuse(`--input: a ${request.method} has no body`, "Give --field, which goes to its query.");
  }
}

async function prepare(io: Context["io"], request: ApiRequest, profile: Profile): Promise<Prepared> {
  const { method } = request;
  const { path, query } = readTarget(request.path, profile);
  const found = findOperation(method, path);
  const isSecret = (name: string) => holdsSecret(found, name);
  for (const [name] of query) refuseInPath(name, isSecret);
  const headers = { accept: "*/*", ...readHeaders(request.headers) };
  const files = new GivenFiles(io);
  const fields = await readFields({ ...request, isSecret }, files);
  const body = request.input === undefined ? undefined : await files.read(request.input, "--input");
  const isInQuery = safeMethods.has(method) || body !== undefined;
  const hasFields = Object.keys(fields).length > 0;
  const call = {
    method,
    path,
    query: isInQuery ? [...query, ...toQuery(fields)] : query,
    headers,
    body: body ?? (hasFields && !isInQuery ? Buffer.from(JSON.stringify(fields)) : undefined),
    isAnonymous: request.isAnonymous,
  };
  const said = { ...Object.fromEntries(query), ...readObject(body), ...fields, ...found?.pathInput };
  return { call, found, said };
}

/** Of a path that is not known, names say what is a secret. */
function holdsSecret(found: FoundOperation | undefined, name: string): boolean {
  if ((callerNames.utoken as readonly string[]).includes(name)) return true;
  if (found) return found.endpoint.secretFields?.includes(name) === true;
  return /(?:^|[._-])(?:secret|password|token|utoken)$/i.test(name);
}

function refuseInPath(name: string, isSecret: (name: string) => boolean): void {
  if (!isSecret(name)) return;
  throw new UserError(
    "usage",
    `the path holds ${name}, a secret, which has no place on a command line`,
    "Leave a utoken out: the profile's own is put in. Give other secrets with --field from a file: name=@file.",
  );
}

function readObject(body: Buffer | undefined): FieldTree {
  try {
    const value: unknown = JSON.parse(body?.toString("utf8") ?? "{}");
    return typeof value === "object" && value !== null ? (value as FieldTree) : {};
  } catch {
    return {};
  }
}

/** Asks before what cannot be had back is taken away; of a path that is not known, a DELETE is taken for such. */
async function askFirst(context: Context, { call, found, said }: Prepared): Promise<void> {
  if (!found) {
    if (call.method !== "DELETE") return;
    await confirmDestruction(context, `DELETE ${call.path}? What it takes away is not known.`);
    return;
  }
  const { destroys } = found.endpoint;
  if (!destroys) return;
  const question = destroys.question.replaceAll(/\{(\w+)\}/g, (whole, name: string) =>
    asText(said[name], whole),
  );
  const typed = destroys.typed === undefined ? "" : asText(said[destroys.typed], "");
  if (typed === "") await confirmDestruction(context, `${question}?`);
  else await confirmByName(context, `${question}.`, typed);
}

function asText(value: unknown, otherwise: string): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : otherwise;
}
