import { expect, it } from "vitest";
import { CpuMeter } from "../../../src/server/cpu-meter.ts";

it("divides the CPU time among the calls that run", () => {
  let cpuMs = 100;
  const meter = new CpuMeter(() => cpuMs);
  const stopFirst = meter.start();
  cpuMs += 10;
  const stopSecond = meter.start();
  cpuMs += 6;
  expect(stopSecond()).toBe(3);
  cpuMs += 1;
  expect(stopFirst()).toBe(14);
  cpuMs += 50;
  expect(meter.start()()).toBe(0);
});

it("measures the thread", () => {
  const stop = new CpuMeter().start();
  const endMs = performance.now() + 40;
  while (performance.now() < endMs);
  expect(stop()).toBeGreaterThan(0);
});
