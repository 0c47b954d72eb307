import { writeSync } from "node:fs";

/** Writes all of it or throws: near the end of a disk the system may take a part and say so only by a number. */
export function writeFully(descriptor: number, bytes: Buffer): void {
  let written = 0;
  while (written < bytes.length) written += writeSync(descriptor, bytes, written);
}
