import { spawn } from "node:child_process";
import { platform } from "node:os";
import { pathToFileURL } from "node:url";
import type { Environment } from "../../config/environment.ts";

/** An opener that is still running after this time has succeeded. */
const timeoutMs = 3_000;

/** The command that opens a file in its default application. */
function openerOf(path: string): readonly [command: string, ...args: string[]] {
  if (platform() === "darwin") return ["open", path];
  // Without a shell, which would interpret special characters in the path.
  if (platform() === "win32") return ["rundll32", "url.dll,FileProtocolHandler", pathToFileURL(path).href];
  return ["xdg-open", path];
}

/**
 * Opens a file in its default application.
 * @returns the reason if it could not be opened
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
    const timer = setTimeout(() => answer(undefined), timeoutMs);
    child.on("error", (error: NodeJS.ErrnoException) =>
      answer(error.code === "ENOENT" ? `${command} not found` : error.message),
    );
    child.on("exit", (code) =>
      answer(code === 0 ? undefined : `${command} exited with ${code ?? "a signal"}`),
    );
  });
}
