import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Attack, Target } from "../attack.ts";

const bytesPerMiB = 1_024 * 1_024;
const repetitions = 3;

const openPath = () => "/v1/widget/reviews";
const bulkPath = ({ account }: Target) => `/apps/${account.appKey}/purchases/mass_create`;

/** Sends a body several times. Each must be refused as malformed or too large; the server may close the connection. */
function sendBody(
  name: string,
  path: (target: Target) => string,
  body: () => string,
  type = "application/json",
): Attack {
  return {
    name,
    run: async (target) => {
      const statuses: number[] = [];
      for (let nth = 0; nth < repetitions; nth += 1) {
        const reply = await target
          .send("POST", path(target), body(), { "content-type": type })
          .catch(() => ({ status: 413 }));
        statuses.push(reply.status);
      }
      return { result: statuses.join(", "), held: statuses.every((status) => status === 400 || status === 413) };
    },
  };
}

const brackets = () => "[".repeat(10 * bytesPerMiB - 1);
const emptyObjects = () => `[${"{},".repeat(3 * bytesPerMiB)}{}]`;
const prototypes = () => `{"orders":[${'{"a":"__proto__"},'.repeat(500_000)}{}]}`;

export const bracketsToAnOpenPath = sendBody("10 MiB of [ to an open path", openPath, brackets);
export const bracketsToABulkPath = sendBody("10 MiB of [ to a bulk path", bulkPath, brackets);
export const emptyObjectsToABulkPath = sendBody("3 million empty objects", bulkPath, emptyObjects);
export const prototypesToABulkPath = sendBody("500,000 times __proto__", bulkPath, prototypes);
export const percentInAForm = sendBody(
  "10 MiB of %41 in a form",
  () => "/oauth/token",
  () => `a=${"%41".repeat(3 * bytesPerMiB)}`,
  "application/x-www-form-urlencoded",
);

/** Starts many bodies at once and completes none. The server must still answer the store. */
function leaveBodiesOpen(name: string, bodies: number, write: (socket: Socket, path: string) => void): Attack {
  return {
    name,
    run: async (target) => {
      const sockets = await Promise.all(Array.from({ length: bodies }, () => target.connect()));
      for (const socket of sockets) write(socket, bulkPath(target));
      await sleep(3_000);
      const body = { utoken: target.account.utoken, platform: "general", orders: [] };
      const { status } = await target.sendFrom("127.0.0.1")("POST", bulkPath(target), body);
      for (const socket of sockets) socket.destroy();
      return { result: `the store's own call: ${status}`, held: status === 200 };
    },
  };
}

const head = (path: string) => `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n`;
const spaces = Buffer.alloc(9 * bytesPerMiB, " ");
const tinyChunks = Buffer.from("1\r\n \r\n".repeat(200_000));

export const stalledBodies = leaveBodiesOpen("100 stalled bodies", 100, (socket, path) => {
  socket.write(`${head(path)}content-length: ${spaces.length + 1}\r\n\r\n`);
  socket.write(spaces);
});

export const chunksOfOneByte = leaveBodiesOpen("2 million chunks of one byte", 10, (socket, path) => {
  socket.write(`${head(path)}transfer-encoding: chunked\r\n\r\n`);
  socket.write(tinyChunks);
});
