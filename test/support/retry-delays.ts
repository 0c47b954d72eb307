import { beforeEach, vi } from "vitest";

/** Shortens the delays before retries in the tests of the calling scope. The client derives them from `Math.random`. */
export function shortenRetryDelays(): void {
  beforeEach(() => {
    const { random } = Math;
    vi.spyOn(Math, "random").mockImplementation(() => random() / 20);
  });
}
