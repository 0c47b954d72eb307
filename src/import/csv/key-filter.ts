/**
 * A Bloom filter over byte strings: "not seen" is certain, "seen" has a small error rate, and memory use is constant.
 * Used where an error costs only work, never a row.
 */
export class KeyFilter {
  readonly #bits: Uint32Array;
  readonly #mask: number;

  /** @param bitsLog2 the size in bits, as a power of two */
  constructor(bitsLog2: number) {
    this.#bits = new Uint32Array(2 ** (bitsLog2 - 5));
    this.#mask = 2 ** bitsLog2 - 1;
  }

  has(key: KeyHash): boolean {
    for (let probe = 0; probe < 4; probe++) {
      const bit = (key.low + Math.imul(probe, key.high)) & this.#mask;
      if (((this.#bits[bit >>> 5] ?? 0) & (1 << (bit & 31))) === 0) return false;
    }
    return true;
  }

  add(key: KeyHash): void {
    for (let probe = 0; probe < 4; probe++) {
      const bit = (key.low + Math.imul(probe, key.high)) & this.#mask;
      this.#bits[bit >>> 5] = (this.#bits[bit >>> 5] ?? 0) | (1 << (bit & 31));
    }
  }
}

export interface KeyHash {
  readonly low: number;
  readonly high: number;
}

/** Two FNV-1a hashes of a range of bytes. */
export function hashKey(bytes: Buffer, start: number, end: number): KeyHash {
  let low = 0x811c9dc5;
  let high = 0x01000193;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0;
    low = Math.imul(low ^ byte, 0x01000193);
    high = Math.imul(high ^ byte, 0x85ebca6b);
  }
  return { low: low ^ (low >>> 15), high: (high ^ (high >>> 13)) | 1 };
}
