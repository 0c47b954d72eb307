const number = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });

export function formatCount(value: number): string {
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
