import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

export interface DelayedServer {
  readonly host: string;
  readonly port: number;
  /** By how much each direction is delayed. */
  readonly delayMs: number;
}

/** Opens a port on loopback that forwards to a server with a delay for each chunk, as a network between two machines does. */
export async function openDelayedPort({
  host,
  port,
  delayMs,
}: DelayedServer): Promise<{ port: number; server: Server }> {
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ host, port, noDelay: true });
    forward(near, far, delayMs);
    forward(far, near, delayMs);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { port: (server.address() as AddressInfo).port, server };
}

function forward(from: Socket, to: Socket, delayMs: number): void {
  from.on("data", (data) => setTimeout(() => to.writable && to.write(data), delayMs));
  from.on("end", () => setTimeout(() => to.end(), delayMs));
  from.on("error", () => to.destroy());
}
