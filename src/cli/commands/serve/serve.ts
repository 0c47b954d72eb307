import { parsePublicUrl } from "../../../config/public-url.ts";
import { silent } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { readPort, readSeconds, readText } from "../../program/flag-values.ts";

export const serve = command({
  name: "serve",
  summary: "Answer the API over HTTP from the embedded database",
  examples: [
    "starpost serve",
    "starpost serve --host 0.0.0.0 --port 80 --public-url https://reviews.shop.example",
  ],
  flags: {
    host: { value: "<address>", description: "the address to listen on (127.0.0.1)", read: readText },
    port: { value: "<n>", description: "the port to listen on; 0 takes a free one (8080)", read: readPort },
    "public-url": {
      value: "<url>",
      description: "the address that mails and pages link to (where it listens)",
      read: parsePublicUrl,
    },
    "limit-legacy": { description: "limit calls outside the core API to 5 a second for each account, too" },
    "bottom-lines-delay": {
      value: "<seconds>",
      description: "how late the list of bottom lines is (3600)",
      read: readSeconds,
    },
    "no-worker": { description: "send no mails and webhooks; `mail run` does it elsewhere" },
    chaos: {
      value: "<spec>",
      description: "misbehave on purpose, for rehearsals: drop=5%,429=10%,500=5%,reset=5%,seed=7",
      read: readText,
    },
  },
  run: async (context, { flags }) => {
    // It knows every call by name, which takes the whole contract.
    const chaos =
      flags.chaos === undefined
        ? undefined
        : (await import("../../../config/chaos-plan.ts")).parseChaosPlan(flags.chaos, "--chaos");
    const { runServer } = await import("./server-run.ts");
    return runServer(context, {
      host: flags.host ?? "127.0.0.1",
      port: flags.port ?? 8080,
      publicUrl: flags["public-url"],
      limitLegacy: flags["limit-legacy"] ?? false,
      bottomLinesDelayMs: flags["bottom-lines-delay"],
      chaos,
      hasWorker: flags["no-worker"] !== true,
    });
  },
  render: () => silent(),
});
