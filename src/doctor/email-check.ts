import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { codeOf } from "../config/user-error.ts";
import { type Check, failed, ok, problem } from "./check.ts";
import type { HostContext } from "../app/ports.ts";
import type { Io } from "../cli/program/io.ts";

/** Tries the way out of mails as `mail configure --check` does; the outbox folder is not made for it. */
export async function checkMailWay({ loadApp }: Io, hostContext: HostContext): Promise<Check> {
  const name = "mail";
  const { findMailSettings } = await import("../config/mail-settings.ts");
  try {
    const { smtp, outboxFolder } = await findMailSettings(hostContext.env, hostContext.paths);
    if (!smtp) return await checkOutbox(name, outboxFolder);
    const { host, port } = smtp;
    const checked = await (await loadApp()).checkMail(hostContext);
    if (checked.ready) return ok(name, `${host}:${port} takes mails`);
    return problem(name, `${host}:${port}: ${checked.problem}`, "Put it right: starpost mail configure.");
  } catch (error) {
    return failed(name, error, "Put it right: starpost mail configure.");
  }
}

async function checkOutbox(name: string, folder: string): Promise<Check> {
  const into = `mails go into the folder ${folder}; nothing leaves this machine`;
  try {
    await access(folder, constants.W_OK | constants.X_OK);
    return ok(name, into);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return ok(name, `${into} (the first mail makes it)`);
    return problem(name, `${folder} cannot be written: ${(error as Error).message}`, "Let it be written.");
  }
}
