/** The words that are typed for a call: `emailRules.list` is `email-rules list`. */
export function commandNameOf(operation: string): string {
  return operation
    .split(".")
    .map((part) => part.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`))
    .join(" ");
}

/** The flag of a field of the input, without its dashes; what is inside of another is named by both. */
export function flagNameOf(path: readonly string[], isOnlyInside: boolean): string {
  const parts = isOnlyInside ? path.slice(-1) : path;
  return parts.join("-").replaceAll("_", "-");
}
