import { expect, it, vi } from "vitest";
import { operations } from "../../src/contract/index.ts";
import { describeBackends } from "../support/backends.ts";
import { callEveryOperation } from "../support/every-call.ts";

/** Source: spec "Endpoints": 45 headings and the batch call. */
const specified = 46;

describeBackends("every operation", (harness) => {
  it("succeeds, for the specification and the extensions", async () => {
    const account = await harness().newAccount();
    const called = vi.spyOn(harness().transport, "call");
    await callEveryOperation(harness(), account);
    const names = new Set<string>(called.mock.calls.map(([name]) => name));
    called.mockRestore();
    expect([...operations.keys()].filter((name) => !names.has(name))).toEqual([]);
    const own = [...operations].filter(([name, { extension }]) => !extension && names.has(name));
    expect(own).toHaveLength(specified);
  });
});
