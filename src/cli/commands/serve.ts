import { silent } from "../../output/view.ts";
import { command } from "../command.ts";
import { readPort, readText } from "../flag-values.ts";

export const serve = command({
  name: "serve",
  summary: "Answer the API over HTTP from the embedded database",
  flags: {
    host: { takes: "<address>", summary: "the address to listen on (127.0.0.1)", read: readText },
    port: { takes: "<n>", summary: "the port to listen on; 0 takes a free one (8080)", read: readPort },
  },
  run: async (context, { flags: { host = "127.0.0.1", port = 8080 } }) => {
    const { runServer } = await import("../server-run.ts");
    return runServer(context, { host, port });
  },
  render: () => silent(),
});
