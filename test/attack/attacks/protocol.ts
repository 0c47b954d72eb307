import { rm } from "node:fs/promises";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { endpointOf, operations, publicLimits, siteShare } from "../../../src/contract/index.ts";
import { createMalformedRequest } from "../../fuzz/malformed-requests.ts";
import { findFault } from "../../fuzz/response-faults.ts";
import { chooseSize } from "../../support/suite-size.ts";
import type { Attack, Target } from "../attack.ts";
import { createReview, sendAll, watchNeighbor } from "../requests.ts";

/** Sends raw text and returns the status of the response. */
async function sendRaw({ connect }: Target, text: string): Promise<string> {
  const socket = await connect();
  const answered = new Promise<string>((found) => {
    socket.once("data", (data: Buffer) => found(/^HTTP\/1\.1 (\d+)/.exec(data.toString())?.[1] ?? "no status"));
    socket.once("close", () => found("closed"));
  });
  socket.write(text);
  const status = await answered;
  socket.destroy();
  return status;
}

/** Opens connections, and sends only part of a request on each. Another store must still be able to connect. */
function holdConnections(name: string, count: number, clients: number, text: string): Attack {
  return {
    name,
    run: async (target) => {
      const sockets: Socket[] = [];
      const others = await watchNeighbor(target, async () => {
        for (let nth = 0; nth < count; nth += 1) {
          const socket = await target.connectFrom(`127.67.${count % 256}.${1 + (nth % clients)}`);
          socket.write(text);
          sockets.push(socket);
        }
        await sleep(3_000);
      });
      const held = sockets.filter(({ destroyed }) => !destroyed).length;
      for (const socket of sockets) socket.destroy();
      return { result: `${held} of ${count} held; ${others.result}`, held: others.held };
    },
  };
}

const partialHead = "GET / HTTP/1.1\r\nhost: x\r\nx-slow: ";
const partialBody =
  "POST /oauth/token HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{";

export const holdOwnConnections = holdConnections("1,100 half-open connections of a client", 1_100, 1, partialHead);
export const holdManyConnections = holdConnections("1,200 half-open connections of 50 clients", 1_200, 50, partialHead);
export const holdBodies = holdConnections("1,300 half-sent bodies of 50 clients", 1_300, 50, partialBody);

export const rotateNetworks: Attack = {
  name: "Vote from 500 networks of one IPv6 site",
  serve: ["--trust-proxy", "127.0.0.0/8"],
  run: async (target) => {
    const { send } = target;
    const id = await createReview(target);
    const voteFrom = (network: number) =>
      [
        "GET",
        `/reviews/${id}/vote/up`,
        undefined,
        { "x-forwarded-for": `2001:db8:47:${network.toString(16)}::1` },
      ] as const;
    const replies = await sendAll(
      send,
      Array.from({ length: 500 }, (_, nth) => [...voteFrom(nth)]),
    );
    const votes = replies.filter(({ status }) => status === 200).length;
    return { result: `${votes} of 500 votes`, held: votes <= siteShare * publicLimits["votes-per-client"].burst + 5 };
  },
};

export const sendTwoHosts: Attack = {
  name: "Send two Host headers",
  run: async (target) => {
    const status = await sendRaw(target, "GET /openapi.json HTTP/1.1\r\nhost: a.example\r\nhost: b.example\r\n\r\n");
    return { result: status, held: status === "400" };
  },
};

export const roundIntegers: Attack = {
  name: "Have an order stored under a rounded ID",
  run: async ({ send, account: { appKey, utoken } }) => {
    const products = { pot: { name: "Pot", url: "https://shop.example/pot", image: "" } };
    const order = { utoken, platform: "general", order_id: 0, email: "a@mail.example", customer_name: "Ann", products };
    const body = JSON.stringify({ ...order, order_date: "2026-03-01" }).replace(
      '"order_id":0',
      '"order_id":12345678901234567890',
    );
    const { status } = await send("POST", `/apps/${appKey}/purchases`, body);
    const { text } = await send("GET", `/apps/${appKey}/purchases?utoken=${utoken}&count=100`);
    const isRounded = text.includes("1234567890123456");
    return { result: `${status}, ${isRounded ? "stored rounded" : "not stored"}`, held: status !== 200 && !isRounded };
  },
};

const requests = chooseSize(500, 20_000);

export const sendMalformedRequests: Attack = {
  name: `Send ${requests} malformed requests`,
  run: async (target) => {
    const { random, otherAccount, sendFrom } = target;
    const seeded = { ...otherAccount, userId: 2, reviewId: await createReview(target) };
    // A valid erasure is no attack with a malformed request: on SQLite, it rewrites the file (see "What remains" in security.md).
    const endpoints = [...operations.values()].filter((endpoint) => endpoint !== endpointOf("customers.erase"));
    const faults: string[] = [];
    const statuses = new Map<number, number>();
    let sent = 0;
    const sendPending = async (worker: number) => {
      // Many addresses, so that few requests are refused for their number.
      for (let nth = 0; sent < requests; nth += 1) {
        sent += 1;
        const endpoint = random.pick(endpoints);
        const { method, path, headers, body } = createMalformedRequest(endpoint, seeded, random);
        const send = sendFrom(`127.77.${worker}.${1 + (Math.floor(nth / 25) % 250)}`);
        const reply = await send(method, path, body, { ...headers, connection: "close" });
        statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
        const type = String(reply.headers["content-type"] ?? "");
        const fault = findFault({ status: reply.status, type, text: reply.text }, endpoint);
        if (fault !== undefined) faults.push(`${fault}: ${method} ${path.slice(0, 200)} ${reply.text.slice(0, 200)}`);
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, worker) => sendPending(worker)));
    const counted = [...statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${count} × ${status}`);
    return { result: faults[0] ?? counted.join(", "), held: faults.length === 0 };
  },
};

export const writeToDeletedDatabase: Attack = {
  name: "Write to a deleted database",
  only: "sqlite",
  damagesDatabase: true,
  run: async ({ send, database, account: { appKey, utoken } }) => {
    for (const suffix of ["", "-wal", "-shm"]) await rm(database + suffix, { force: true });
    // The server may notice in the background.
    await sleep(100);
    const { status } = await send("POST", `/v1/apps/${appKey}/products_groups`, { utoken, group_name: "lost" });
    return { result: `write answered with ${status}`, held: status >= 400 };
  },
};
