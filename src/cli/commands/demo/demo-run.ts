import type { App } from "../../../app/ports.ts";
import { toJson } from "../../../terminal/render.ts";
import type { Context } from "../../program/context.ts";
import { isForScripts } from "../../program/global-flags.ts";
import { listenForStop } from "../../program/stop-signals.ts";

type RunningDemo = Awaited<ReturnType<App["startDemo"]>>;

/** Serves the sample shop until a signal arrives. */
export async function runDemo(context: Context, port: number): Promise<void> {
  const { io, messages, globals } = context;
  const { clock, random, version, stderr: log } = io;
  let stop = () => {};
  const stopped = new Promise<void>((resolve) => (stop = resolve));
  let demo: RunningDemo | undefined;
  const signals = listenForStop(io, {
    onExit: () => demo?.remove(),
    onStop: () => stop(),
    isUnlimited: true,
    signals: ["SIGINT", "SIGTERM", "SIGHUP"],
  });
  try {
    const { startDemo } = await io.loadApp();
    demo = await startDemo({ port, clock, random, version, log });
    try {
      messages.flush();
      io.stdout.write(isForScripts(globals.format) ? toJson(toEvent(demo)) : describe(demo));
      await stopped;
    } finally {
      await demo.close();
    }
  } finally {
    signals.release();
  }
}

const toEvent = ({ url, serviceUrl, appKey }: RunningDemo) => ({
  event: "listening",
  url,
  service_url: serviceUrl,
  app_key: appKey,
});

function describe({ url, serviceUrl, appKey }: RunningDemo): string {
  return `Sample shop:  ${url}
All emails:   ${url}/emails
Its service:  ${serviceUrl} (app key ${appKey})

Everything is temporary, and nothing is sent. To stop, press Ctrl-C.
`;
}
