import type { Command, CommandTable } from "./command.ts";
import { type ParsedCommand, type ParsedQuestion, parseCommandLine } from "./command-line.ts";
import type { Context } from "./context.ts";
import type { Flags, FlagValues } from "./flag.ts";
import { commands, loadCommands, replaceSynonyms } from "./commands.ts";
import { type ExitStatus, exitStatus } from "./exit-status.ts";
import { UserError } from "../../config/user-error.ts";
import { isClockTime } from "../../contract/time.ts";
import { readGlobals, wantsJson, wantsRedaction } from "./global-flags.ts";
import type { Io } from "./io.ts";
import { guardIo } from "./output/guarded-io.ts";

/** Runs a command line. Reports every error and converts it to an exit status. */
export async function runProgram(io: Io, table: CommandTable = commands): Promise<ExitStatus> {
  if (!wantsRedaction(io.argv, io.env)) return runCommandLine(guardIo(io), table);
  const { redactIo } = await import("./output/redacted-io.ts");
  const redacted = await redactIo(io);
  try {
    return await runCommandLine(guardIo(redacted.io), table);
  } finally {
    redacted.flush();
  }
}

async function runCommandLine(io: Io, table: CommandTable): Promise<ExitStatus> {
  try {
    const argv = replaceSynonyms(io.argv, table);
    const parsed = parseCommandLine(argv, await loadCommands(table, argv));
    return "asked" in parsed ? await answer(io, parsed, table) : await runCommand(io, parsed, table);
  } catch (error) {
    const { reportFailure } = await import("./errors/error-report.ts");
    return reportFailure(io, error);
  }
}

/** Prints the version or help. For an incomplete command line, prints help only to a person. */
async function answer(io: Io, { asked, about, problem }: ParsedQuestion, table: CommandTable): Promise<ExitStatus> {
  const isJson = wantsJson(io.argv);
  if (problem && (isJson || !io.isStderrTerminal)) throw problem;
  if (asked === "version") {
    io.stdout.write(isJson ? `${JSON.stringify({ version: io.version })}\n` : `${io.version}\n`);
    return exitStatus.done;
  }
  const help = await findHelp(io, table, about);
  if (problem) io.stderr.write(help);
  else io.stdout.write(isJson ? `${JSON.stringify({ help })}\n` : help);
  return problem ? exitStatus.usage : exitStatus.done;
}

async function runCommand(io: Io, parsed: ParsedCommand, table: CommandTable): Promise<ExitStatus> {
  const { command } = parsed;
  const globals = readGlobals(parsed.globals);
  if (!isClockTime(io.clock())) {
    throw new UserError("failed", "the system clock shows an impossible time", "Set the clock of this machine.");
  }
  const { createContext } = await import("./context.ts");
  const { createMessages } = await import("./output/messages.ts");
  const { readFlagValues } = await import("./flag-values.ts");
  const flags = readFlagValues(command.flags ?? {}, parsed.flags);
  const messages = createMessages(io, globals);
  const context = createContext(io, globals, messages, (about) => findHelp(io, table, about));
  const given = { arguments: parsed.arguments, flags };
  await confirmOutputs(context, command, given);
  const data = await redact(io, await command.run(context, given));
  if (data !== undefined && (command.isPrinted?.(data) ?? true)) {
    const { print } = await import("./output/print.ts");
    const rows = await print(io, globals, { data, view: () => command.render(data) });
    if (rows === 0) messages.info(describeEmptyList(command.name, table));
  }
  messages.flush();
  return command.exitStatus?.(data) ?? exitStatus.done;
}

/** Hides personal data before the command formats it. */
async function redact<T>({ redactor }: Io, data: T): Promise<T> {
  if (!redactor) return data;
  const { RowStream } = await import("../../terminal/row-stream.ts");
  return data instanceof RowStream ? (data.map((row) => redactor.data(row)) as T) : redactor.data(data);
}

/** Asks before a command replaces files, except its own input, which the command refuses. */
async function confirmOutputs(
  context: Context,
  { flags: declared = {} }: Command,
  given: { readonly arguments: readonly string[]; readonly flags: FlagValues<Flags> },
): Promise<void> {
  const names = Object.keys(declared).filter((name) => declared[name]?.isOutput);
  const outputs = names.flatMap((name) => {
    const file: unknown = given.flags[name];
    return typeof file === "string" && !given.arguments.includes(file) ? [{ file, flag: name }] : [];
  });
  if (outputs.length === 0) return;
  const { confirmReplacing } = await import("./output/existing-files.ts");
  await confirmReplacing(context, outputs);
}

async function findHelp(io: Io, table: CommandTable, about: string): Promise<string> {
  const help = await import("./help/find-help.ts");
  return help.findHelp(table, about, io.columns);
}

/** Explains an empty list, with the commands of its noun that add records. */
function describeEmptyList(name: string, table: CommandTable): string {
  const noun = name.split(" ").slice(0, -1).join(" ");
  const verbs = ["import", "create"].map((verb) => `${noun} ${verb}`).filter((found) => found in table);
  if (noun === "api") return "No results.";
  if (verbs.length === 0) return `No ${noun} found.`;
  return `No ${noun} found. To add some, run ${verbs.map((found) => `\`starpost ${found}\``).join(" or ")}.`;
}
