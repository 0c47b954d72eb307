import type { Readable } from "node:stream";
import { UserError } from "../../../config/user-error.ts";

const longestSecret = 4_096;

/**
 * Reads a secret that a script gives on standard input; a line end after it is none of it.
 * @throws UserError `usage`
 */
export async function readSecretLine(stdin: Readable, what: string): Promise<string> {
  let text = "";
  for await (const chunk of stdin) {
    text += String(chunk);
    if (text.length > longestSecret) break;
  }
  const secret = text.replace(/\r?\n$/, "");
  if (secret === "")
    throw new UserError(
      "usage",
      `standard input holds no ${what}`,
      `Lead the ${what} to it: a line of a file, or what a password manager prints.`,
    );
  if (secret.length <= longestSecret && !/\p{Cc}/u.test(secret)) return secret;
  throw new UserError(
    "usage",
    `the ${what} on standard input is not one line of a usual length`,
    `Lead the ${what} alone to it, without other lines.`,
  );
}
