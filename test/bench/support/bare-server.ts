import { readFileSync } from "node:fs";
import { fastify } from "fastify";

/** Answers every GET and every JSON POST with the contents of the given file: the minimum work for a server. */
const body = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as unknown;
const app = fastify({ logger: false, bodyLimit: 10 * 1_024 * 1_024 });
app.get("/*", () => body);
app.post("/*", () => body);
process.stdout.write(`${await app.listen({ host: "127.0.0.1", port: 0 })}\n`);
