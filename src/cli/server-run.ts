import { Problem } from "../config/problem.ts";
import { localProfile } from "../config/profile.ts";
import { toJson } from "../output/render.ts";
import type { Serving } from "./connection.ts";
import type { Context } from "./context.ts";
import { isForScripts } from "./globals.ts";
import { listenForStop } from "./stop-signals.ts";

/** Serves the embedded database until a signal comes, then finishes what is in flight. */
export async function runServer(context: Context, serving: Serving): Promise<void> {
  const { io, talk, globals } = context;
  const profile = await findLocalProfile(context);
  const { startServer } = await io.compose();
  const logLevel = globals.quiet ? "silent" : globals.verbose ? "debug" : "info";
  let stop = () => {};
  const stopped = new Promise<void>((resolve) => (stop = resolve));
  const signals = listenForStop(io, () => stop());
  try {
    const surroundings = await context.surroundings();
    const { version, stderr: log } = io;
    const server = await startServer({ ...surroundings, ...serving, version, profile, logLevel, log });
    talk.notice(
      `Serving the embedded database ${profile.shownAs} at ${server.url} (app key ${server.appKey})`,
    );
    talk.flush();
    if (isForScripts(globals.format)) io.stdout.write(toJson({ event: "listening", url: server.url }));
    await stopped;
    await server.close();
  } finally {
    signals.release();
  }
}

/** The current profile may be remote without harm; one that is named must be the one that is served. */
async function findLocalProfile(context: Context) {
  if (context.globals.profile !== undefined) {
    const { name, mode } = await context.profile();
    if (mode !== "local") {
      throw new Problem(
        "usage",
        `the profile ${name} is remote, and only the embedded database can be served`,
        "Use --profile local.",
      );
    }
  }
  return localProfile(await context.profileSources());
}
