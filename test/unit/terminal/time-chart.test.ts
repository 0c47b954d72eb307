import * as fc from "fast-check";
import { expect, it } from "vitest";
import { drawTimeChart } from "../../../src/terminal/time-chart.ts";

const span = ["2026-03-01", "2026-03-08"] as const;

it("draws one line per series, each with its own scale", () => {
  const series = [
    { name: "requests", values: [0, 1_000, 500, 250, 2_000, 1, 0, 1_999] },
    { name: "bounces", values: [0, 0, 0, 3, 0, 1, 2, 0] },
  ];
  expect(drawTimeChart(series, span, 80)).toEqual([
    "                 2026-03-01 to 2026-03-08",
    "requests  5,750  ·▄▂▁█▁·█  ≤ 2,000",
    "bounces       6  ···█·▃▆·  ≤ 3",
  ]);
});

it("sums adjacent times if they do not fit, and adds a note", () => {
  const values = Array.from({ length: 90 }, (_, at) => at);
  const lines = drawTimeChart([{ name: "opens", values }], span, 60);
  expect(lines.at(-1)).toMatch(/^ {14}\S.* 3$/);
  expect(lines[1]).toMatch(/^opens {2}4,005 {2}[▁▂▃▄▅▆▇█]{30} {2}≤ 264$/);
});

it("fits the width, and makes every value above zero visible", () => {
  const values = fc.array(fc.nat({ max: 1_000_000 }), { minLength: 1, maxLength: 1_100 });
  fc.assert(
    fc.property(values, fc.integer({ min: 60, max: 200 }), (counted, width) => {
      const lines = drawTimeChart([{ name: "unique clicks", values: counted }], span, width);
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(width);
      const drawn = (lines[1] ?? "").split("  ").find((part) => /^[·▁▂▃▄▅▆▇█]+$/.test(part)) ?? "";
      expect(drawn.length).toBeGreaterThan(0);
      if (drawn.length === counted.length) {
        expect(drawn.split("").map((sign) => sign === "·")).toEqual(counted.map((value) => value === 0));
      }
    }),
  );
});
