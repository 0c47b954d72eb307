import { spawn } from "node:child_process";
import { platform } from "node:os";
import { pathToFileURL } from "node:url";
import type { Environment } from "../../config/environment.ts";

/** How long an opener may take to say that it could not; what is still at work by then has opened something. */
const answersWithinMs = 3_000;

/** The system's own way to open a file as a person would. */
function openerOf(path: string): readonly [command: string, ...args: string[]] {
  if (platform() === "darwin") return ["open", path];
  // Not by way of a shell, for which a path may hold signs.
  if (platform() === "win32") return ["rundll32", "url.dll,FileProtocolHandler", pathToFileURL(path).href];
  return ["xdg-open", path];
}

/**
 * Opens a file with what the system has for it.
 * @returns why it was not opened, or nothing where it was
 */
export function openFile(path: string, env: Environment): Promise<string | undefined> {
  const [command, ...args] = openerOf(path);
  return new Promise((resolve) => {
    const child = spawn(command, args, { env: { ...env }, stdio: "ignore", detached: true });
    const answer = (problem: string | undefined) => {
      clearTimeout(timer);
      child.unref();
      resolve(problem);
    };
    const timer = setTimeout(() => answer(undefined), answersWithinMs);
    child.on("error", (error: NodeJS.ErrnoException) =>
      answer(error.code === "ENOENT" ? `${command} is not there` : error.message),
    );
    child.on("exit", (code) =>
      answer(code === 0 ? undefined : `${command} ended with ${code ?? "a signal"}`),
    );
  });
}
