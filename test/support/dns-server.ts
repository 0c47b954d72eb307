import { createSocket } from "node:dgram";
import { once } from "node:events";

export interface DnsServer {
  /** For `STARPOST_DNS_SERVER`. */
  readonly address: string;
  /** The TXT records by name, as lists of strings; `failed` makes the server report that it failed. */
  readonly records: Map<string, readonly (readonly string[])[] | "failed">;
  readonly close: () => void;
}

const types = { txt: 16 } as const;
const codes = { noError: 0, failed: 2, noName: 3 } as const;
const headerBytes = 12;

/** Starts a DNS server on loopback that answers questions about TXT records. Source: RFC 1035 4.1. */
export async function startDnsServer(): Promise<DnsServer> {
  const socket = createSocket("udp4");
  const records: DnsServer["records"] = new Map();
  socket.on("message", (query, { port, address }) => {
    const { name, end } = readName(query);
    const found = records.get(name);
    const answers = found === "failed" ? [] : (found ?? []).map(createAnswer);
    const code = found === "failed" ? codes.failed : found ? codes.noError : codes.noName;
    const header = Buffer.alloc(headerBytes);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x81_80 | code, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(answers.length, 6);
    socket.send(Buffer.concat([header, query.subarray(headerBytes, end + 4), ...answers]), port, address);
  });
  await once(socket.bind(0, "127.0.0.1"), "listening");
  return { address: `127.0.0.1:${socket.address().port}`, records, close: () => socket.close() };
}

function readName(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = headerBytes;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), end: at + 1 };
}

function createAnswer(strings: readonly string[]): Buffer {
  const data = Buffer.concat(strings.flatMap((text) => [Buffer.from([text.length]), Buffer.from(text, "latin1")]));
  const head = Buffer.alloc(12);
  // A pointer to the name in the question.
  head.writeUInt16BE(0xc0_00 | headerBytes, 0);
  head.writeUInt16BE(types.txt, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(60, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}
