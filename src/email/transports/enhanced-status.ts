/** A response of a mail server that begins with a reply code, an enhanced status code (RFC 3463), or both. */
const statusPattern = /^\s*(?:(\d{3})(?:[ -]|$))?(?:(\d\.\d{1,3}\.\d{1,3})\b)?/;

/** Reads the codes of a response. A missing code is an empty string. */
export function readStatus(response: string): { readonly reply: string; readonly enhanced: string } {
  const [, reply = "", enhanced = ""] = statusPattern.exec(response) ?? [];
  return { reply, enhanced };
}

/**
 * Whether a permanent rejection has a cause that usually passes, so that later messages may arrive: a full mailbox (552,
 * 5.2.2), or an enhanced status code that is temporary (4.x.x).
 */
export function isTransientRejection(response: string): boolean {
  const { reply, enhanced } = readStatus(response);
  if (enhanced === "") return reply === "552";
  return enhanced === "5.2.2" || enhanced.startsWith("4.");
}
