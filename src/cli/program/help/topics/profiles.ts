import type { Topic } from "./topic.ts";

export const profiles: Topic = {
  name: "profiles",
  summary: "which account is used: the embedded one, or one of a service",
  blocks: [
    "A profile is an account: `local` is the embedded engine's own, which needs no set-up; others are made by signing in to a service, and remembered.",
    {
      lines: [
        "starpost auth login --base-url https://api.example.com --app-key KEY --profile shop",
        "starpost auth status",
        "starpost orders import orders.csv --profile local",
      ],
    },
    "--profile decides for one command. Without it the environment does: STARPOST_BASE_URL, STARPOST_APP_KEY and STARPOST_SECRET together, the profile `env`, or STARPOST_PROFILE; then comes the profile that was signed in last.",
    "A profile may be marked live, where a shop runs on it. Every command that writes to it then says its name and address, and what destroys or overwrites asks first. --yes answers; where nobody can be asked and --yes is not given, the command ends with 2.",
    "Secrets are asked for, or read from standard input with --secret-stdin. They are never flags.",
  ],
};
