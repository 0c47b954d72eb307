import type { Readable } from "node:stream";
import { usageError } from "../../../config/user-error.ts";

const maxSecretLength = 4_096;

/**
 * Reads a secret from standard input, without the line ending.
 * @throws UserError `usage`
 */
export async function readSecretLine(stdin: Readable, what: string): Promise<string> {
  let text = "";
  for await (const chunk of stdin) {
    text += String(chunk);
    if (text.length > maxSecretLength) break;
  }
  const secret = text.replace(/\r?\n$/, "");
  if (secret === "")
    throw usageError(
      `standard input contains no ${what}`,
      `Redirect a file with the ${what} to it, or pipe the output of a password manager.`,
    );
  if (secret.length <= maxSecretLength && !/\p{Cc}/u.test(secret)) return secret;
  throw usageError(
    `the ${what} on standard input must be one line of at most ${maxSecretLength} characters`,
    `Pass only the ${what}.`,
  );
}
