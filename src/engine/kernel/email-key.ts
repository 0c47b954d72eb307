import { isSameSecret } from "./credentials.ts";
import type { Sealer } from "./sealer.ts";

const form = /^([1-9]\d{0,14})-([0-9a-f]{32})$/;

/**
 * What a mail is known by outside: the left part of its Message-ID, and its file in the outbox folder. The same for
 * every attempt; nobody can make that of a mail that they do not have.
 */
export function createMessageKey(mailId: number, sealer: Sealer): string {
  return `${mailId}-${markOf(mailId, sealer)}`;
}

/** The mail of a key, or nothing where this service did not make it. */
export function parseMessageKey(key: string, sealer: Sealer): number | undefined {
  const [, id, mark] = form.exec(key) ?? [];
  if (id === undefined || mark === undefined) return undefined;
  return isSameSecret(mark, markOf(Number(id), sealer)) ? Number(id) : undefined;
}

function markOf(mailId: number, sealer: Sealer): string {
  return sealer.mark(`mail ${mailId}`);
}
