import { setImmediate as nextTurn } from "node:timers/promises";
import { type Endpoint, ServiceError } from "../contract/index.ts";

/** Longer lists are encoded in parts, and only a few at the same time. */
const longFrom = 100;

/** How many characters are encoded before other events are handled. */
const charactersPerTurn = 256 * 1_024;

/** Whether a call requests a list that may be long. */
export function requestsLongList({ listing }: Endpoint, input: Readonly<Record<string, unknown>>): boolean {
  return listing !== undefined && (listing.size === undefined || Number(input[listing.size.field]) > longFrom);
}

/**
 * Encodes a long list without blocking the event loop.
 * @throws ServiceError `invalidParams` if it takes more than `maxBytes`
 */
export async function encodeLongJson(value: unknown, maxBytes: number): Promise<Buffer> {
  const encoded: Buffer[] = [];
  let bytes = 0;
  let text = "";
  const flush = () => {
    const piece = Buffer.from(text);
    text = "";
    bytes += piece.length;
    encoded.push(piece);
    if (bytes > maxBytes) throw responseTooLarge(maxBytes);
  };
  for (const part of listParts(value)) {
    text += part;
    if (text.length < charactersPerTurn) continue;
    flush();
    await nextTurn();
  }
  flush();
  return Buffer.concat(encoded, bytes);
}

export function responseTooLarge(maxBytes: number): ServiceError {
  return new ServiceError("invalidParams", `the response has more than ${maxBytes} bytes; request fewer elements`);
}

/** The JSON of a value, in parts: one for each element of its lists, and of the lists in its objects. */
function* listParts(value: unknown): Generator<string> {
  if (Array.isArray(value)) {
    for (const [at, element] of value.entries()) yield `${at === 0 ? "[" : ","}${JSON.stringify(element) ?? "null"}`;
    yield value.length === 0 ? "[]" : "]";
  } else if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    for (const [at, [name, field]] of fields.entries()) {
      yield `${at === 0 ? "{" : ","}${JSON.stringify(name)}:`;
      yield* listParts(field);
    }
    yield fields.length === 0 ? "{}" : "}";
  } else yield JSON.stringify(value) ?? "null";
}
