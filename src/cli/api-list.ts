import { Problem } from "../config/problem.ts";
import { ServiceError } from "../contract/errors.ts";
import type { Endpoint, Listing } from "../contract/endpoint.ts";
import type { FoundOperation } from "../contract/find-operation.ts";
import type { SendSigned, UnsignedCall } from "../service/raw-call.ts";
import { readList } from "../service/list-all.ts";
import type { CallOptions } from "../service/transport.ts";
import { writeOut } from "./api-answer.ts";
import type { Context } from "./context.ts";

type Fields = Readonly<Record<string, unknown>>;

type ListEndpoint = Endpoint & { readonly listing: Listing };

export interface ApiList {
  readonly call: UnsignedCall;
  readonly endpoint: ListEndpoint;
  readonly send: SendSigned;
  readonly limit: number | undefined;
  readonly options: CallOptions;
}

/** @throws Problem `usage` where the call is no list that is known */
export function requireList({ method, path }: UnsignedCall, found: FoundOperation | undefined): ListEndpoint {
  const { endpoint, isPage = true } = found ?? {};
  const listing = endpoint?.listing;
  if (endpoint && listing && !isPage && method === "GET") return { ...endpoint, listing };
  throw new Problem(
    "usage",
    `--paginate: how ${method} ${path} goes on is not known`,
    "Without --paginate one page is printed; its query says which.",
  );
}

/**
 * Prints a list's elements as they come, all pages together: as one JSON list, or a line each.
 * @throws ServiceError
 */
export async function printList({ io, globals }: Context, list: ApiList): Promise<void> {
  const { limit, options } = list;
  const asked = { ...toListed(list), input: Object.fromEntries(list.call.query), limit };
  const isLines = globals.format === "ndjson";
  let count = 0;
  try {
    for await (const page of readList(asked, options)) {
      const lines = page.map((element, at) => {
        const text = JSON.stringify(element);
        return isLines ? `${text}\n` : `${count + at === 0 ? "[" : ","}\n${text}`;
      });
      count += page.length;
      if (!(await writeOut(io.stdout, lines.join("")))) return;
    }
  } finally {
    // What came before an error is a whole document as well.
    if (!isLines) await writeOut(io.stdout, count === 0 ? "[]\n" : "\n]\n");
  }
}

function toListed({ call, endpoint, send, options }: ApiList) {
  const ask = async (input: Fields): Promise<Fields> => {
    const answer = await send({ ...call, query: changeQuery(call.query, input) }, options);
    if (answer.refusal) throw answer.refusal;
    return endpoint.reply.decode(parse(answer.bytes));
  };
  return { listing: endpoint.listing, ask };
}

/** The query as it was given, but for what a page needs. */
function changeQuery(query: UnsignedCall["query"], input: Fields): UnsignedCall["query"] {
  const own: Fields = Object.fromEntries(query);
  const changed = Object.entries(input).filter(([name, value]) => own[name] !== value);
  const kept = query.filter(([name]) => changed.every(([other]) => other !== name));
  return [...kept, ...changed.map(([name, value]): [string, string] => [name, String(value)])];
}

function parse(bytes: Buffer): Record<string, unknown> {
  try {
    return JSON.parse(bytes.toString("utf8")) as Record<string, unknown>;
  } catch (error) {
    throw new ServiceError("unexpectedAnswer", "the answer is not JSON", { cause: error });
  }
}
