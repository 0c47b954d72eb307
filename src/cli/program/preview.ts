import type { Command, CommandInput } from "./command.ts";
import type { Context } from "./context.ts";
import type { Profile } from "../../config/profile.ts";
import type { Flags } from "./flag.ts";
import {
  CallPreviewed,
  type CallPreview,
  type PreviewedCall,
  type PreviewMode,
  splitAtVariables,
} from "../../service/call-preview.ts";
import { RowStream } from "../../terminal/row-stream.ts";

export function createPreview(command: Command, mode: PreviewMode): CallPreview {
  const calls: PreviewedCall[] = [];
  const includesReads = command.calls !== "write";
  return {
    mode,
    calls,
    changes: [],
    preview: { includesReads, isRehearsed: mode === "dry-run", record: (call) => calls.push(call) },
  };
}

/** Runs a command up to its first call that is shown. */
export async function runPreview(command: Command, context: Context, input: CommandInput<Flags>): Promise<void> {
  try {
    const data = await command.run(context, input);
    if (data instanceof RowStream) await data.pages[Symbol.asyncIterator]().next();
  } catch (error) {
    if (!(error instanceof CallPreviewed)) throw error;
  }
}

/** The calls as JSON, or as text: commands, or the method and path of each call with its fields. Or else the changes. */
export async function formatPreview(
  { mode, calls, changes }: CallPreview,
  isJson: boolean,
  isLocal = false,
): Promise<string> {
  if (isLocal)
    return isJson ? `${JSON.stringify({ dry_run: true, changes })}\n` : changes.map((line) => `${line}\n`).join("");
  const { formatCurlCommand } = await import("../../service/call-preview.ts");
  if (!isJson)
    return calls.map((call) => `${mode === "curl" ? formatCurlCommand(call) : describeCall(call)}\n`).join("");
  const described = calls.map((call) => ({
    operation: call.operation,
    method: call.method,
    url: nameVariables(call.baseUrl + call.target),
    ...(mode === "curl" ? { curl: formatCurlCommand(call) } : { input: JSON.parse(formatInput(call)) as unknown }),
  }));
  return `${JSON.stringify({ ...(mode === "dry-run" && { dry_run: true }), calls: described })}\n`;
}

function describeCall(call: PreviewedCall): string {
  const { operation, method, target } = call;
  const name = operation === undefined ? "" : `  (${operation})`;
  return `${method} ${nameVariables(target.split("?", 1)[0] ?? "")}${name}\n${formatInput(call)}`;
}

function formatInput({ input }: PreviewedCall): string {
  return nameVariables(JSON.stringify(input ?? {}, undefined, 2));
}

/** Explains what was checked, or how to run the commands. */
export function explainPreview(preview: CallPreview, profile: Profile | undefined): readonly string[] {
  const { mode, calls } = preview;
  if (!profile) return [preview.changes.length === 0 ? "The command changes nothing." : "Nothing was changed."];
  const isLocal = profile.mode === "local";
  if (calls.length === 0) return ["The command makes no call."];
  if (mode === "dry-run") {
    const checked = isLocal ? "The database accepted the call, and rolled it back." : "Only the values were checked.";
    return [`Nothing was written. ${checked}`];
  }
  const commands: Readonly<Record<string, string>> = {
    STARPOST_UTOKEN: "`starpost auth token`",
    STARPOST_SECRET: "`starpost auth credentials`",
  };
  const variables = listVariables(preview).map((name) => {
    const command = isLocal || name === "STARPOST_UTOKEN" ? commands[name] : undefined;
    return command === undefined
      ? `Set ${name} before you run it.`
      : `Set ${name} before you run it; ${command} prints it.`;
  });
  return [...variables, ...(isLocal ? ["Only while `starpost serve` is running, the database has this address."] : [])];
}

/** The names of the variables that the calls contain. */
function listVariables({ calls }: CallPreview): readonly string[] {
  const texts = calls.flatMap(({ target, headers, body = "" }) => [target, ...Object.values(headers), body]);
  return [...new Set(texts.flatMap((text) => splitAtVariables(text).filter((_, at) => at % 2 === 1)))];
}

function nameVariables(text: string): string {
  return splitAtVariables(text)
    .map((part, at) => (at % 2 === 1 ? `$${part}` : part))
    .join("");
}
