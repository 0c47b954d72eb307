import type { Topic } from "./topic.ts";

export const profiles: Topic = {
  name: "profiles",
  summary: "choosing the account or database to use",
  blocks: [
    "A profile is a named account or database. The profile `local` is the embedded database and needs no setup. `starpost auth login` and `starpost profile add` create others.",
    {
      lines: [
        "starpost auth login --base-url https://api.example.com --app-key KEY --profile shop",
        "starpost auth status",
        "starpost orders import orders.csv --profile local",
      ],
    },
    "--profile selects the profile of one command. Otherwise, the environment applies: STARPOST_BASE_URL, STARPOST_APP_KEY, and STARPOST_SECRET together (the profile `env`), or STARPOST_PROFILE. Otherwise, the current profile is used.",
    "A profile can be marked as live. Commands that write to a live profile show its name and address, and commands that delete or overwrite ask for confirmation. --yes skips the prompt. If a prompt is not possible and --yes is not set, the command exits with 2.",
    "Secrets are read from a prompt, or from standard input with --secret-stdin. They are never passed as flags.",
  ],
};
