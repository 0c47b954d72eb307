import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { BlockList, isIPv6, type Socket } from "node:net";
import { Server as SecureServer } from "node:tls";
import type { ReceivingLimits } from "../contract/index.ts";
import { listNetworks } from "../service/client-networks.ts";

interface Connection {
  readonly socket: Socket;
  /** The latest request whose response has not been sent. */
  request: IncomingMessage | undefined;
}

/**
 * Limits the open connections, in total and per client. When there are too many, the one that has waited the longest for a
 * complete request is closed, so that clients can always connect.
 */
export function limitConnections(
  server: Server,
  { connections: max, connectionsPerClient = Infinity }: ReceivingLimits,
  trustedProxies: readonly string[],
): void {
  const proxies = toBlockList(trustedProxies);
  const read = deferReading(server);
  /** By address and port; those that began to wait last come last. */
  const open = new Map<string, Connection>();
  /** The number of connections by network. */
  const counts = new Map<string, number>();

  const add = (name: string, delta: 1 | -1) => {
    const count = (counts.get(name) ?? 0) + delta;
    if (count === 0) counts.delete(name);
    else counts.set(name, count);
  };
  const refresh = (name: string, connection: Connection) => {
    // Otherwise, it has been closed.
    if (open.delete(name)) open.set(name, connection);
  };

  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? "";
    const isProxy = proxies.check(address, isIPv6(address) ? "ipv6" : "ipv4");
    const networks = isProxy ? [] : listNetworks(address);
    const isFull = open.size >= max && !closeLongestWaiting(open);
    if (isFull || networks.some(({ name, share }) => (counts.get(name) ?? 0) >= connectionsPerClient * share)) {
      socket.destroy();
      return;
    }
    const [client] = networks;
    read(socket, client && counts.has(client.name) ? client.name : undefined);
    const name = nameOf(socket);
    open.set(name, { socket, request: undefined });
    for (const network of networks) add(network.name, 1);
    socket.once("close", () => {
      open.delete(name);
      for (const network of networks) add(network.name, -1);
    });
  });
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const name = nameOf(request.socket);
    const connection = open.get(name);
    if (!connection) return;
    connection.request = request;
    refresh(name, connection);
    response.once("close", () => {
      if (connection.request === request) connection.request = undefined;
      refresh(name, connection);
    });
  });
}

/** How many deferred connections are read in a turn of the event loop: `quiet` if none is accepted, else one in `busy` turns. */
const deferredReads = { quiet: 3, busy: 16 } as const;

/**
 * Takes over the connections of a server, and returns a function that reads one: at once, or later, if it names the client.
 * Clients take turns. Node.js accepts one connection per turn of the event loop: if the requests of a client that opens
 * hundreds were handled in the same turns, all others would wait to be accepted.
 */
function deferReading(server: Server): (socket: Socket, client: string | undefined) => void {
  const listeners = server.listeners("connection") as ((this: Server, socket: Socket) => void)[];
  server.removeAllListeners("connection");
  // An option of `net.createServer` that `http.createServer` does not pass on.
  Object.assign(server, { pauseOnConnect: true });

  // The connection itself is read by that of TLS.
  const isSecure = server instanceof SecureServer;
  if (isSecure) server.on("secureConnection", (socket: Socket) => socket.resume());

  const unread = new Map<string, Socket[]>();
  let isQuiet = true;
  let turns = 0;
  const read = (socket: Socket) => {
    if (socket.destroyed) return;
    for (const listener of listeners) listener.call(server, socket);
    if (!isSecure) socket.resume();
  };
  const readNext = () => {
    turns += 1;
    let count = isQuiet ? deferredReads.quiet : turns % deferredReads.busy === 0 ? 1 : 0;
    for (const [client, [next, ...others]] of unread) {
      if (count-- === 0) break;
      unread.delete(client);
      // Its next turn is after those of all others.
      if (others.length > 0) unread.set(client, others);
      if (next) read(next);
    }
    isQuiet = true;
    if (unread.size > 0) setImmediate(readNext);
  };
  return (socket, client) => {
    isQuiet = false;
    if (client === undefined) return read(socket);
    if (unread.size === 0) setImmediate(readNext);
    unread.set(client, [...(unread.get(client) ?? []), socket]);
  };
}

/** Closes a connection, unless all of them wait for a response. */
function closeLongestWaiting(open: Map<string, Connection>): boolean {
  for (const [name, { socket, request }] of open) {
    if (request?.complete === true) continue;
    open.delete(name);
    socket.destroy();
    return true;
  }
  return false;
}

/** With TLS, the socket of a request is not that of the connection. */
function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function toBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", prefix] = network.split("/");
    const type = isIPv6(address) ? "ipv6" : "ipv4";
    if (prefix === undefined) list.addAddress(address, type);
    else list.addSubnet(address, Number(prefix), type);
  }
  return list;
}
