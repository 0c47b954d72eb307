const number = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });

/** A number with at most one decimal. */
export function formatDecimal(value: number): string {
  return number.format(value);
}

/** `2026-01-31 12:00:05 UTC`. */
export function formatTime(ms: number): string {
  return Number.isFinite(ms) ? `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} UTC` : "unknown";
}

/** `12:00:05`. */
export function formatClock(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19);
}

export function formatDuration(ms: number): string {
  const seconds = ms / 1_000;
  if (seconds < 60) return `${number.format(seconds)} s`;
  const rounded = Math.round(seconds);
  const [hours, minutes] = [Math.floor(rounded / 3_600), Math.floor((rounded % 3_600) / 60)];
  return hours > 0 ? `${number.format(hours)} h ${minutes} min` : `${minutes} min ${rounded % 60} s`;
}

export function formatSize(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"] as const;
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${number.format(bytes / 1_000 ** power)} ${units[power] ?? ""}`;
}

/** The last part of a path. */
export function baseName(path: string): string {
  return path === "-" ? "standard input" : (path.split(/[\\/]/).findLast((part) => part !== "") ?? path);
}

/** A share as a percentage that says 0% or 100% only if it is exact. */
export function formatShare(count: number, total: number): string {
  if (total === 0) return "0%";
  const percent = (count * 100) / total;
  if (percent > 0 && percent < 0.1) return "< 0.1%";
  if (percent < 100 && percent > 99.9) return "> 99.9%";
  return `${number.format(percent)}%`;
}
