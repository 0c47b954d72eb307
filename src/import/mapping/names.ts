/** Header and field names are compared without regard to case, spaces, `_`, and `-`. */
export function normalizeName(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, "");
}

/** Whether two names stand for the same field or column. */
export function isSameName(one: string, other: string): boolean {
  return normalizeName(one) === normalizeName(other);
}
