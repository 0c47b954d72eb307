import { statSync } from "node:fs";
import { resolve } from "node:path";
import { confirm } from "../confirm.ts";
import type { Context } from "../context.ts";

/**
 * Asks for confirmation before files are replaced. Devices and pipes are only written to, and `-` is standard output.
 * @throws UserError as `confirm`
 */
export async function confirmReplacing(
  context: Pick<Context, "io" | "globals">,
  outputs: readonly { readonly file: string; readonly flag: string }[],
): Promise<void> {
  const existing = outputs.filter(({ file }) => file !== "-" && isFile(resolve(context.io.cwd, file)));
  if (existing.length === 0) return;
  const files = existing.map(({ file, flag }) => `${file} (--${flag})`).join(" and ");
  await confirm(context, `Overwrite ${files}, which already ${existing.length === 1 ? "exists" : "exist"}?`);
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
