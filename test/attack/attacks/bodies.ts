import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Attack, Target } from "../attack.ts";
import { watchNeighbor } from "../requests.ts";

const bytesPerMiB = 1_024 * 1_024;
const formType = "application/x-www-form-urlencoded";
const repetitions = 3;
/** The second group is refused for the cost of the first. */
const costlyGroups = 2;
const atOnce = 20;

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
      let isRefused = true;
      for (let nth = 0; nth < repetitions; nth += 1) {
        const reply = await target
          .send("POST", path(target), body(), { "content-type": type })
          .catch(() => ({ status: 413, text: "" }));
        statuses.push(reply.status);
        // The specification's error for invalid parameters.
        isRefused &&= [400, 413].includes(reply.status) || reply.text.includes("Exceptions::InvalidParams");
      }
      return { result: statuses.join(", "), held: isRefused };
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
  formType,
);

/** An object with different names. */
const wide = (names: number, from = 0) =>
  `{${Array.from({ length: names }, (_, nth) => `"${(from + nth).toString(36)}":1`).join(",")}}`;

/** Sends many bodies at once that take long to process, and none of which is valid. */
function sendCostly(name: string, path: (target: Target) => string, body: () => string, type?: string): Attack {
  return {
    name,
    run: async (target) => {
      const headers = { "content-type": type ?? "application/json" };
      const bytes = Buffer.from(body());
      const statuses = new Map<number, number>();
      const send = async () => {
        const { status } = await target.send("POST", path(target), bytes, headers).catch(() => ({ status: 413 }));
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      };
      const others = await watchNeighbor(target, async () => {
        for (let repeat = 0; repeat < costlyGroups; repeat += 1) {
          await Promise.all(Array.from({ length: atOnce }, send));
        }
      });
      const answered = [...statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${count} × ${status}`);
      // Refused for its size, or else counted against the client.
      const isRefused = !statuses.has(200) && (statuses.has(429) || statuses.has(413));
      return { result: `${answered.join(", ")}; ${others.result}`, held: isRefused && others.held };
    },
  };
}

/** Orders with different names of fields, which repeat after `different`. */
const orders = (count: number, names: number, different = Infinity) => {
  const list = Array.from({ length: count }, (_, nth) => wide(names, (nth * names) % different));
  return `{"platform":"general","orders":[${list.join(",")}]}`;
};
const fields = () => Array.from({ length: 12_000 }, (_, nth) => nth.toString(36)).join("&");

export const wideJsonToTokens = sendCostly(
  "90,000 names to /oauth/token",
  () => "/oauth/token",
  () => wide(90_000),
);
export const wideJsonToReviews = sendCostly("90,000 names to an open path", openPath, () => wide(90_000));
export const smallerJsonToReviews = sendCostly("20,000 names to an open path", openPath, () => wide(20_000));
export const wideJsonToABulkPath = sendCostly("190,000 names to a bulk path", bulkPath, () => wide(190_000));
export const wideOrdersToABulkPath = sendCostly("190 orders of 1,000 names", bulkPath, () => orders(190, 1_000));
export const narrowOrdersToABulkPath = sendCostly("6,000 orders of 30 names", bulkPath, () => orders(6_000, 30));
export const allowedOrders = sendCostly("6,000 orders of as many names as allowed", bulkPath, () =>
  orders(6_000, 30, 11_500),
);
export const allowedOrder = sendCostly("One order of as many names as allowed", bulkPath, () => orders(1, 11_900));
export const fieldsInAQuery = sendCostly(
  "5,000 fields in a query",
  () => `/v1/widget/reviews?${"a=&".repeat(5_000)}`,
  () => "{}",
);
export const fieldsInAForm = sendCostly("12,000 fields in a form", () => "/oauth/token", fields, formType);

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
