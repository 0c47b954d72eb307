import { readFile } from "node:fs/promises";
import { type Check, ok, skipped, warning } from "../check.ts";
import type { ProbeSettings } from "../../app/ports.ts";
import { paceFileOf } from "../../client/pace-file.ts";
import { readPaceState } from "../../client/shared-pace.ts";
import type { PaceState } from "../../client/pace-state.ts";

const name = "pace";

/** Who was not heard of for so long takes no part any more. */
const presentForMs = 3_000;

/** Looks at the file by which the processes of this machine keep an account's limit together. */
export async function judgePace(
  { paths, clock }: Pick<ProbeSettings, "paths" | "clock">,
  target: string,
  appKey: string | undefined,
): Promise<Check> {
  if (appKey === undefined) return skipped(name, "there is no account yet");
  const path = `${paceFileOf(paths.limitsFolder, { target, appKey })}.json`;
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return ok(name, "no process keeps a pace now");
    const message = `${path} cannot be read (${(error as Error).message}): each process keeps a pace of its own`;
    return warning(name, message, "Let yourself read and write the folder, or remove the file.");
  }
  return judgeState(readPaceState(text, clock()), clock());
}

function judgeState({ participants, heldUntilMs, slowdown }: PaceState, nowMs: number): Check {
  const present = Object.values(participants).filter(({ seenMs }) => nowMs - seenMs < presentForMs);
  const rate = Math.max(0, ...present.map(({ ratePerSecond }) => ratePerSecond));
  const who =
    present.length === 0
      ? "no process calls now"
      : `${present.length === 1 ? "1 process keeps" : `${present.length} processes keep together`} to ${rate} calls a second`;
  if (heldUntilMs > nowMs) {
    const seconds = Math.ceil((heldUntilMs - nowMs) / 1_000);
    return warning(
      name,
      `${who}; calls are held back for another ${seconds} s, since the service refused some`,
      "Wait, or call with a lower --rate.",
    );
  }
  return ok(name, slowdown > 1.05 ? `${who}, and go slower after refusals by the service` : who);
}
