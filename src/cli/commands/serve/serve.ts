import { parsePublicUrl } from "../../../config/public-url.ts";
import { silent } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { findExposureSettings, readProxies, readPublicLimits } from "./exposure-flags.ts";
import { readDelay, readPort, readText } from "../../program/flag-values.ts";

export const serve = command({
  name: "serve",
  summary: "Serve the API over HTTP from the embedded database",
  examples: ["starpost serve", "starpost serve --host 0.0.0.0 --port 80 --public-url https://reviews.shop.example"],
  flags: {
    host: { value: "<address>", description: "address to listen on (default: 127.0.0.1)", read: readText },
    port: {
      value: "<n>",
      description: "port to listen on; 0 selects a free port (default: 8080)",
      read: readPort,
    },
    "public-url": {
      value: "<url>",
      description: "base URL of links in emails and pages (default: the listening address)",
      read: parsePublicUrl,
    },
    "limit-legacy": { description: "also limit calls outside the core API to 5 per second per account" },
    "public-limits": {
      value: "<on|off|limits>",
      description:
        "limits of calls without a token, such as votes-per-client=100/600,images-per-client=off " +
        "(default: on, or off if only this machine can call)",
      read: readPublicLimits,
    },
    "trust-proxy": {
      value: "<addresses>",
      description: "comma-separated addresses or networks of reverse proxies whose X-Forwarded-For names the client",
      read: readProxies,
    },
    "bottom-lines-delay": {
      value: "<seconds>",
      description: "delay of the list of bottom lines, in seconds, 0 to 86400 (default: the account's setting)",
      read: readDelay,
    },
    "allow-signup": {
      description: "let anyone create an account, even if other machines can reach the server",
    },
    "no-worker": { description: "do not send emails and webhooks; run `starpost mail run` instead" },
    chaos: {
      value: "<spec>",
      description: "inject faults for testing: drop=5%,429=10%,500=5%,reset=5%,seed=7",
      read: readText,
    },
  },
  run: async (context, { flags }) => {
    // Loads the complete contract, because a plan may name any operation.
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
      ...findExposureSettings(
        { publicLimits: flags["public-limits"], trustedProxies: flags["trust-proxy"] },
        context.io.env,
      ),
      bottomLinesDelayMs: flags["bottom-lines-delay"],
      chaos,
      allowsSignUp: flags["allow-signup"] ?? false,
      hasWorker: flags["no-worker"] !== true,
    });
  },
  render: () => silent(),
});
