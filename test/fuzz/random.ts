/** A reproducible source of random choices. */
export interface Random {
  /** Returns an integer from 0 up to, but not including, `end`. */
  readonly below: (end: number) => number;
  readonly pick: <T>(from: readonly T[]) => T;
  /** Returns true with this probability. */
  readonly chance: (share: number) => boolean;
}

/** Mulberry32: small and fast; its 32 bits of state are enough to generate requests. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number) => Math.floor(next() * end);
  return {
    below,
    pick: (from) => {
      const picked = from[below(from.length)];
      if (picked === undefined && from.length === 0) throw new Error("cannot pick from an empty list");
      return picked as (typeof from)[number];
    },
    chance: (share) => next() < share,
  };
}
