let format: Intl.NumberFormat | undefined;

/** Formats a number with thousands separators: `1,234,567`. */
export function formatNumber(value: number): string {
  // Created on first use, because creating it delays start-up.
  format ??= new Intl.NumberFormat("en-US");
  return format.format(value);
}

/** Formats a number with its noun: `1 row`, `2 rows`. */
export function countOf(value: number, one: string, many = `${one}s`): string {
  return `${formatNumber(value)} ${value === 1 ? one : many}`;
}

/** Formats a duration: `0.4 s`, `12 s`, `3 min 05 s`, `2 h 10 min`, `7 days`. */
export function formatDuration(ms: number): string {
  const seconds = ms / 1_000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const rounded = Math.round(seconds);
  if (rounded < 60) return `${rounded} s`;
  if (rounded < 3_600) return `${Math.floor(rounded / 60)} min ${pad(rounded % 60)} s`;
  const days = Math.floor(rounded / 86_400);
  if (days >= 2) return countOf(days, "day");
  return `${Math.floor(rounded / 3_600)} h ${pad(Math.floor((rounded % 3_600) / 60))} min`;
}

/** Formats a size: `640 bytes`, `12 kB`, `3.4 MB`. */
export function formatBytes(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"] as const;
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  const value = bytes / 1_000 ** power;
  return `${power === 0 || value >= 100 ? formatNumber(Math.round(value)) : Number(value.toFixed(1))} ${units[power] ?? ""}`;
}

function pad(value: number): string {
  return String(value).padStart(2, "0");
}
