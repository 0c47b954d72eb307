import type { Readable, Writable } from "node:stream";

/**
 * Asks for a value that is not shown while it is typed. Only for a terminal.
 * @returns the answer, or nothing when the person broke it off
 */
export async function askSecret(
  message: string,
  terminal: { readonly input: Readable; readonly output: Writable },
): Promise<string | undefined> {
  const { createPromptModule } = (await import("inquirer")).default;
  const ask = createPromptModule({
    input: terminal.input,
    output: terminal.output,
  });
  try {
    const { secret } = await ask([{ type: "password", name: "secret", message, mask: "*" }]);
    return secret;
  } catch (error) {
    if ((error as Error).name === "ExitPromptError") return undefined;
    throw error;
  }
}
