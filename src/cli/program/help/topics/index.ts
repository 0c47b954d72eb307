import type { Topic } from "./topic.ts";

/** Help topics, each loaded by its own import because names and summaries are needed more often. */
export const topics: Readonly<Record<string, { readonly summary: string; load(): Promise<Topic> }>> = {
  "exit-statuses": {
    summary: "exit statuses and error output",
    load: async () => (await import("./exit-statuses.ts")).exitStatuses,
  },
  environment: {
    summary: "environment variables",
    load: async () => (await import("./environment.ts")).environment,
  },
  layouts: {
    summary: "importing the exports of shop platforms",
    load: async () => (await import("./layouts.ts")).layouts,
  },
  mapping: {
    summary: "importing files with other column names",
    load: async () => (await import("./mapping.ts")).mapping,
  },
  output: {
    summary: "output formats, columns, and using jq",
    load: async () => (await import("./output.ts")).output,
  },
  profiles: {
    summary: "choosing the account or database to use",
    load: async () => (await import("./profiles.ts")).profiles,
  },
  importing: {
    summary: "planning, running, resuming, and undoing imports",
    load: async () => (await import("./importing.ts")).importing,
  },
  rates: {
    summary: "limiting the rate of requests",
    load: async () => (await import("./rates.ts")).rates,
  },
};
