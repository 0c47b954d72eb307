/** Random choices that are the same in every run. */
export interface Random {
  /** A whole number from 0 to below `end`. */
  readonly below: (end: number) => number;
  readonly pick: <T>(from: readonly T[]) => T;
  /** True in this share of the choices. */
  readonly chance: (share: number) => boolean;
}

/** Mulberry32: small, fast, and with a state of 32 bits, which is enough to choose requests by. */
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
      if (picked === undefined && from.length === 0) throw new Error("there is nothing to pick from");
      return picked as (typeof from)[number];
    },
    chance: (share) => next() < share,
  };
}
