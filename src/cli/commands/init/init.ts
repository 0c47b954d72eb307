import { text } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { readText } from "../../program/flag-values.ts";

export const init = command({
  name: "init",
  summary: "Set starpost up: with an account of its own on this machine, or for a service elsewhere",
  flags: {
    local: {
      description: "here: an embedded database with an account of its own",
      exclusive: ["base-url", "app-key", "secret-stdin", "live"],
    },
    "base-url": { value: "<url>", description: "elsewhere: the address of the service", read: readText },
    "app-key": { value: "<key>", description: "elsewhere: the app key of the account", read: readText },
    "secret-stdin": { description: "elsewhere: read the secret from standard input" },
    live: { description: "elsewhere: a shop runs on it; writing says its name, and destroying asks with it" },
  },
  examples: ["starpost init", "starpost init --local"],
  notes: [
    "At a terminal it asks for what is not given. It can be run again at any time: what is there is kept.",
    "--profile names the account that is elsewhere; `default` where it is not given.",
  ],
  run: async (context, { flags }) => {
    const { setUp } = await import("./init-run.ts");
    return setUp(context, {
      isLocal: flags.local ?? false,
      baseUrl: flags["base-url"],
      appKey: flags["app-key"],
      isSecretOnStdin: flags["secret-stdin"] ?? false,
      isLive: flags.live,
    });
  },
  render: ({ next, ...done }) =>
    text(["Next:", ...next.map((line) => `  ${line}`)], [{ ...done }], Object.keys(done)),
});
