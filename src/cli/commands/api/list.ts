import { usageError } from "../../../config/user-error.ts";
import type { Endpoint, Listing } from "../../../contract/endpoint.ts";
import { ServiceError } from "../../../contract/errors.ts";
import type { FoundOperation } from "../../../contract/find-operation.ts";
import { RowStream } from "../../../terminal/row-stream.ts";
import { readList } from "../../../service/list-all.ts";
import type { SendSigned, UnsignedCall } from "../../../service/raw-call.ts";
import type { CallOptions } from "../../../service/transport.ts";
import type { Context } from "../../program/context.ts";
import { operationCards } from "../operations/operation-cards.ts";
import { print } from "../../program/output/print.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A list operation and how it is paginated. */
export interface KnownList {
  readonly endpoint: Endpoint;
  readonly listing: Listing;
  /** The fields of an element. */
  readonly columns: readonly string[];
}

export interface ApiList {
  readonly call: UnsignedCall;
  readonly list: KnownList;
  readonly send: SendSigned;
  readonly limit: number | undefined;
  readonly options: CallOptions;
}

/** @throws UserError `usage` if the call is not a known list operation */
export function requireList({ method, path }: UnsignedCall, found: FoundOperation | undefined): KnownList {
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
export async function printList({ io, globals }: Context, asked: ApiList): Promise<void> {
  const { call, list, limit, options } = asked;
  const { listing, columns } = list;
  const input = Object.fromEntries(call.query);
  const pages = readList({ listing, input, limit, ask: askOf(asked) }, options);
  const isTable = globals.format === "csv" || globals.columns !== undefined;
  const format = globals.format === "table" && !isTable ? "json" : globals.format;
  await print(
    io,
    { ...globals, format },
    { data: new RowStream(pages, { columns }), view: () => ({ layout: "silent", columns, rows: [] }) },
  );
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
