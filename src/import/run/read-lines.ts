import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";

const pieceBytes = 256 * 1024;

/** The lines of a text file, which may grow meanwhile; none if it does not exist. Memory use is bounded by the longest. */
export function* readLines(path: string): Generator<string> {
  if (!existsSync(path)) return;
  const descriptor = openSync(path, "r");
  try {
    const buffer = Buffer.allocUnsafeSlow(pieceBytes);
    const decoder = new StringDecoder("utf8");
    let rest = "";
    for (let count = readSync(descriptor, buffer); count > 0; count = readSync(descriptor, buffer)) {
      const lines = `${rest}${decoder.write(buffer.subarray(0, count))}`.split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
    yield `${rest}${decoder.end()}`;
  } finally {
    closeSync(descriptor);
  }
}
