import { isSameSecret } from "../kernel/credentials.ts";
import type { Sealer } from "../kernel/sealer.ts";

const format = /^([1-9]\d{0,14})-([0-9a-f]{32})$/;

/**
 * Creates the external identifier of an email: the left part of its Message-ID, and part of its file name in the outbox
 * folder. It is the same for all attempts and cannot be guessed.
 */
export function createMessageKey(mailId: number, sealer: Sealer): string {
  return `${mailId}-${sealer.mark(subjectOf(mailId))}`;
}

/** Returns the email ID of a message key, or undefined if the key was not created by this service. */
export function parseMessageKey(key: string, sealer: Sealer): number | undefined {
  const [, id, signature] = format.exec(key) ?? [];
  if (id === undefined || signature === undefined) return undefined;
  const isSigned = sealer.allMarks(subjectOf(Number(id))).some((mark) => isSameSecret(signature, mark));
  return isSigned ? Number(id) : undefined;
}

function subjectOf(mailId: number): string {
  return `mail ${mailId}`;
}
