/**
 * Runs work, and returns the CPU time of this process meanwhile, in milliseconds. Unlike the time that passes, it does not grow
 * while other processes run.
 */
export function measureCpu(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
