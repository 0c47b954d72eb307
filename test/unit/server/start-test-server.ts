import type { OperationName } from "../../../src/contract/index.ts";
import { createServer, type Server, type ServerOptions } from "../../../src/server/server.ts";
import { createServerLog } from "../../../src/server/server-log.ts";
import type { Caller, CallOptions, Transport } from "../../../src/service/transport.ts";

/** A call as received by the transport. */
export interface Made {
  readonly operation: OperationName;
  readonly input: unknown;
  readonly caller: Caller;
}

export type Answerer = (call: Made, options: CallOptions | undefined) => unknown;

/** Starts the server over a transport that answers with `respond`, and captures its log. */
export async function startServing(
  answer: Answerer,
  options: Partial<ServerOptions>,
  opened: Server[],
  declared: Pick<Transport, "engine" | "gate"> = { engine: { hasVersion: true } },
): Promise<{ server: Server; url: string; made: Made[]; lines: string[] }> {
  const made: Made[] = [];
  const lines: string[] = [];
  const transport: Transport = {
    ...declared,
    call: async (operation, input, caller, callOptions) => {
      made.push({ operation, input, caller });
      return (await answer({ operation, input, caller }, callOptions)) as never;
    },
    close: async () => {},
  };
  const logger = createServerLog({ write: (line) => lines.push(line) }, { level: "debug", clock: () => 0 });
  const server = createServer(transport, { logger, ...options });
  opened.push(server);
  const { url } = await server.listen({ host: "127.0.0.1", port: 0 });
  return { server, url, made, lines };
}
