import type { ConnectionSettings } from "./ports.ts";
import type { LocalProfile } from "../config/profile.ts";
import { findPublicUrl } from "../config/public-url.ts";
import type { Server } from "../server/server.ts";
import type { SendRaw } from "../service/raw-call.ts";
import type { Transport } from "../service/transport.ts";

/** Handles raw calls with an in-process server, which is created on the first call. */
export function createLocalSender(
  transport: Transport,
  { clock, env, version = "unknown" }: ConnectionSettings,
  { shownAs }: LocalProfile,
): SendRaw {
  let opened: Promise<Server> | undefined;
  const open = async () => {
    const { createServer } = await import("../server/server.ts");
    const { silentLog } = await import("../server/server-log.ts");
    const about = () => ({ version, publicUrl: findPublicUrl(env) });
    return createServer(transport, { logger: silentLog(), clock, about });
  };
  return async ({ utoken, ...request }) => {
    const { parseRefusal } = await import("../client/response-parser.ts");
    opened ??= open();
    const response = await (await opened).answer(request);
    const path = request.target.split("?", 1)[0] ?? "";
    return {
      ...response,
      refusal: parseRefusal(response, { service: shownAs, path, utoken, nowMs: clock() }),
    };
  };
}
