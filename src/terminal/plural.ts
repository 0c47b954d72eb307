let format: Intl.NumberFormat | undefined;

/** A number with its thousands apart: `1,234,567`. */
export function formatNumber(value: number): string {
  // Made when it is first needed: it costs a part of a start.
  format ??= new Intl.NumberFormat("en-US");
  return format.format(value);
}

/** A number with its noun: `1 row`, `2 rows`. */
export function countOf(value: number, one: string, many = `${one}s`): string {
  return `${formatNumber(value)} ${value === 1 ? one : many}`;
}

/** A length of time as a person says it: `0.4 s`, `12 s`, `3 min 05 s`, `2 h 10 min`. */
export function formatDuration(ms: number): string {
  const seconds = ms / 1_000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${pad(whole % 60)} s`;
  return `${Math.floor(whole / 3_600)} h ${pad(Math.floor((whole % 3_600) / 60))} min`;
}

/** A size as a person says it: `640 bytes`, `12 kB`, `3.4 MB`. */
export function formatBytes(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"] as const;
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  const value = bytes / 1_000 ** power;
  return `${power === 0 || value >= 100 ? formatNumber(Math.round(value)) : Number(value.toFixed(1))} ${units[power] ?? ""}`;
}

function pad(value: number): string {
  return String(value).padStart(2, "0");
}
