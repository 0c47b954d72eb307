/** Runs work, and returns the CPU time that it took, in milliseconds. Unlike the time of day, it does not depend on other processes. */
export function measureCpu(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
