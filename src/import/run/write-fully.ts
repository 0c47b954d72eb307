import { writeSync } from "node:fs";

/** Writes all bytes or throws. On a nearly full disk, a single write may accept fewer bytes without an error. */
export function writeFully(descriptor: number, bytes: Buffer): void {
  let written = 0;
  while (written < bytes.length) written += writeSync(descriptor, bytes, written);
}
