import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { codeOf } from "../config/user-error.ts";
import { type Check, type DoctorContext, failed, ok, problem } from "./check.ts";

const name = "mail";
const fix = "Run `starpost mail configure`.";

const setPublicUrl = "Set STARPOST_PUBLIC_URL to the address at which recipients reach the service.";

/** Checks the configured email transport. Does not create the outbox folder. */
export async function checkEmail(context: Pick<DoctorContext, "env" | "paths" | "checkEmail">): Promise<Check> {
  const { findEmailSettings } = await import("../config/email-settings.ts");
  try {
    const { smtp, outboxFolder } = await findEmailSettings(context.env, context.paths);
    if (!smtp) return await checkOutboxFolder(outboxFolder);
    const { findLinkProblem } = await import("../config/public-url.ts");
    const { findPublicUrl } = await import("../config/public-url.ts");
    const links = findLinkProblem(findPublicUrl(context.env), smtp.host);
    if (links) return problem(name, links.message, setPublicUrl);
    const server = `${smtp.host}:${smtp.port}`;
    const result = await context.checkEmail();
    return result.ready ? ok(name, `${server} accepts emails`) : problem(name, `${server}: ${result.problem}`, fix);
  } catch (error) {
    return failed(name, error, fix);
  }
}

async function checkOutboxFolder(folder: string): Promise<Check> {
  const target = `emails are written to ${folder} and not sent`;
  try {
    await access(folder, constants.W_OK | constants.X_OK);
    return ok(name, target);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return ok(name, `${target} (folder created on first use)`);
    return problem(name, `cannot write to ${folder}: ${(error as Error).message}`, `chmod 700 '${folder}'`);
  }
}
