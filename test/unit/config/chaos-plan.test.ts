import { describe, expect, test } from "vitest";
import { describeChaosPlan, parseChaosPlan } from "../../../src/config/chaos-plan.ts";

describe("parseChaosPlan", () => {
  test("parses a comma-separated list", () => {
    const spec = "drop=5%, 429=10%,500=0.5%,reset=5%,timeout=1%,413=2%,delay=20,max-body=4096,seed=7";
    expect(parseChaosPlan(`${spec},only=orders.massCreate`, "--chaos")).toEqual({
      rates: { drop: 0.05, "429": 0.1, "500": 0.005, reset: 0.05, timeout: 0.01, "413": 0.02 },
      delayMs: 20,
      maxBodyBytes: 4_096,
      seed: 7,
      only: "orders.massCreate",
    });
    expect(parseChaosPlan("only=/apps", "--chaos")).toEqual({
      rates: {},
      delayMs: 0,
      seed: 1,
      only: "/apps",
    });
  });

  test.each([
    "",
    "drop",
    "drop=5",
    "drop=101%",
    "drop=-1%",
    "drops=5%",
    "503=5%",
    "seed=x",
    "delay=1.5",
    "only=orders.sell",
    "drop=5%,,429=1%",
    "__proto__=5",
  ])("rejects %j and lists what is accepted", (spec) => {
    expect(() => parseChaosPlan(spec, "--chaos")).toThrow(
      expect.objectContaining({
        kind: "usage",
        message: expect.stringMatching(/\B--chaos\b/) as string,
        hint: expect.stringContaining("429=<n%>, 413=<n%>, 500=<n%>, reset=<n%>, timeout=<n%>, drop=<n%>") as string,
      }) as Error,
    );
  });

  test("describeChaosPlan includes the seed", () => {
    const plan = parseChaosPlan("500=0.1%,429=10%,delay=5,only=/core", "--chaos");
    expect(describeChaosPlan(plan)).toBe("429 10 %, 500 0.1 %, delay 5 ms, seed 1, only /core");
  });
});
