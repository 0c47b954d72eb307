export const liveFlags = {
  live: { description: "mark the profile as live: name it on writes, and confirm overwrites and removals" },
  "no-live": { description: "mark the profile as not live" },
} as const;

/** The flags that name an account and its secret. */
export const accountFlags = {
  "base-url": { value: "<url>", description: "service URL (http or https)" },
  "app-key": { value: "<key>", description: "app key of the account" },
  "secret-stdin": { description: "read the secret from standard input" },
} as const;
