import type { Account, Cluster } from "../scale/cluster.ts";

/** Sends a call to the first server. @throws Error if it is refused */
export async function send(
  { urls }: Cluster,
  path: string,
  body?: object,
  { method = body === undefined ? "GET" : "POST", key }: { readonly method?: string; readonly key?: string } = {},
): Promise<unknown> {
  const reply = await fetch(urls[0] + path, {
    method,
    headers: { "content-type": "application/json", ...(key !== undefined && { "idempotency-key": key }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text.slice(0, 500)}`);
  return text === "" ? undefined : JSON.parse(text);
}

/** Runs work for 0, 1, … with several at once. */
export async function inParallel(count: number, atOnce: number, work: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const run = async () => {
    for (let at = next++; at < count; at = next++) await work(at);
  };
  await Promise.all(Array.from({ length: atOnce }, run));
}

export function emailSetting({ appKey, utoken }: Account, name: string, value: unknown) {
  return [`/starpost/v1/apps/${appKey}/mail_rules`, { utoken, name, value }, { method: "PUT" }] as const;
}
