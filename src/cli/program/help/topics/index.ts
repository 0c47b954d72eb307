import type { Topic } from "./topic.ts";

/** The topics of the help, each behind its own import: their names and what they are about are needed more often. */
export const topics: Readonly<Record<string, { readonly summary: string; load(): Promise<Topic> }>> = {
  "exit-statuses": {
    summary: "what the exit status of a command says",
    load: async () => (await import("./exit-statuses.ts")).exitStatuses,
  },
  environment: {
    summary: "the variables that are read",
    load: async () => (await import("./environment.ts")).environment,
  },
  layouts: {
    summary: "files that shops export, read as they are",
    load: async () => (await import("./layouts.ts")).layouts,
  },
  mapping: {
    summary: "columns with names of their own",
    load: async () => (await import("./mapping.ts")).mapping,
  },
  output: {
    summary: "formats, columns, and what jq does with them",
    load: async () => (await import("./output.ts")).output,
  },
  profiles: {
    summary: "which account is used: the embedded one, or one of a service",
    load: async () => (await import("./profiles.ts")).profiles,
  },
  importing: {
    summary: "how an import goes: before it, afterwards, and where it is interrupted",
    load: async () => (await import("./importing.ts")).importing,
  },
  rates: {
    summary: "how fast a service is called",
    load: async () => (await import("./rates.ts")).rates,
  },
};
