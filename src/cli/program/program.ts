import type { Command, CommandInput, CommandTable } from "./command.ts";
import { type ParsedCommand, type ParsedQuestion, parseCommandLine } from "./command-line.ts";
import type { Context } from "./context.ts";
import type { Flags, FlagValues } from "./flag.ts";
import { commands, isCommandWord, loadCommands, replaceSynonyms } from "./commands.ts";
import { type ExitStatus, exitStatus } from "./exit-status.ts";
import { failedError } from "../../config/user-error.ts";
import { isClockTime } from "../../contract/time.ts";
import { type Globals, isForScripts, readGlobals, wantsJson, wantsRedaction } from "./global-flags.ts";
import type { Io } from "./io.ts";
import type { JqOutput } from "./output/jq-output.ts";
import type { ResultError } from "./output/messages.ts";
import type { CallPreview } from "../../service/call-preview.ts";
import { guardIo } from "./output/guarded-io.ts";

/** Runs a command line. Reports every error and converts it to an exit status. */
export async function runProgram(given: Io, table: CommandTable = commands): Promise<ExitStatus> {
  let io = given;
  try {
    io = await expandAliases(given, table);
  } catch (error) {
    const { reportFailure } = await import("./errors/error-report.ts");
    return reportFailure(guardIo(given), error);
  }
  if (!wantsRedaction(io.argv, io.env)) return runCommandLine(guardIo(io), table);
  const { redactIo } = await import("./output/redacted-io.ts");
  const redacted = await redactIo(io);
  try {
    return await runCommandLine(guardIo(redacted.io), table);
  } finally {
    redacted.flush();
  }
}

/** Reads the aliases only if the command line does not begin with a command. */
async function expandAliases(io: Io, table: CommandTable): Promise<Io> {
  const [first = "--"] = io.argv;
  if (first.startsWith("-") ? !io.argv.some((word) => !word.startsWith("-")) : isCommandWord(first, table)) return io;
  const { replaceAlias } = await import("./aliases.ts");
  const argv = await replaceAlias(io, table);
  return argv === io.argv ? io : (Object.create(io, { argv: { value: argv } }) as Io);
}

async function runCommandLine(io: Io, table: CommandTable): Promise<ExitStatus> {
  let output: JqOutput | undefined;
  try {
    const argv = replaceSynonyms(io.argv, table);
    const parsed = parseCommandLine(argv, await loadCommands(table, argv));
    if ("asked" in parsed) return await answer(io, parsed, table);
    const globals = readGlobals(parsed.globals);
    if (globals.jq !== undefined) {
      const { openJqOutput } = await import("./output/jq-output.ts");
      output = await openJqOutput(io, globals.jq, globals.format === "ndjson");
    }
    const status = await runCommand(output?.io ?? io, parsed, { globals, table });
    output?.finish();
    return status;
  } catch (error) {
    const { reportFailure } = await import("./errors/error-report.ts");
    const status = await reportFailure(output?.io ?? io, error);
    output?.end();
    return status;
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

async function runCommand(
  io: Io,
  parsed: ParsedCommand,
  { globals, table }: { readonly globals: Globals; readonly table: CommandTable },
): Promise<ExitStatus> {
  const { command } = parsed;
  if (!isClockTime(io.clock())) {
    throw failedError("the system clock shows an impossible time", "Set the clock of this machine.");
  }
  const { createContext } = await import("./context.ts");
  const { createMessages } = await import("./output/messages.ts");
  const { readFlagValues } = await import("./flag-values.ts");
  const flags = readFlagValues(command.flags ?? {}, parsed.flags);
  const messages = createMessages(io, globals);
  const given = { arguments: parsed.arguments, flags };
  const preview = await findPreview(command, flags);
  const context = createContext(io, globals, messages, {
    findHelp: (about) => findHelp(io, table, about),
    shown: preview,
    database: command.database,
  });
  try {
    if (preview) return await printPreview(context, command, { given, preview });
    return await runAndPrint(context, command, { given, table });
  } catch (error) {
    messages.fail(error);
    throw error;
  }
}

async function runAndPrint(
  context: Context,
  command: Command,
  { given, table }: { readonly given: CommandInput<Flags>; readonly table: CommandTable },
): Promise<ExitStatus> {
  const { io, globals, messages } = context;
  await confirmOutputs(context, command, given);
  const data = await redact(io, await command.run(context, given));
  if (data !== undefined && (command.isPrinted?.(data) ?? true)) {
    const { print } = await import("./output/print.ts");
    const rows = await print(io, globals, data, () => command.render(data));
    const { RowStream } = await import("../../terminal/row-stream.ts");
    const { limit, ifEmpty = describeEmptyList(command.name, table, given) } = data instanceof RowStream ? data : {};
    if (rows === 0) messages.info(ifEmpty);
    if (limit?.isExceeded) (await import("./read-records.ts")).reportLimit(context, limit.rows);
  }
  const status = command.exitStatus?.(data) ?? exitStatus.done;
  const error = wantsJson(io.argv) ? unfinished[status] : undefined;
  messages.flush(error && { ...error, message: command.problem?.(data) ?? error.message });
  return status;
}

/** The errors of commands that have printed their data, but not finished, by their exit status. */
const unfinished: Partial<Record<ExitStatus, ResultError>> = {
  [exitStatus.temporary]: { kind: "temporary", message: "temporary failure" },
  [exitStatus.stopped]: { kind: "stopped", message: "stopped by --max-errors" },
  [exitStatus.interrupted]: { kind: "interrupted", message: "interrupted" },
};

async function findPreview(command: Command, flags: FlagValues<Flags>): Promise<CallPreview | undefined> {
  const canPreview = command.calls !== undefined || command.isLocalChange === true;
  if (!canPreview || (!flags["curl"] && !flags["dry-run"])) return undefined;
  const { createPreview } = await import("./preview.ts");
  return createPreview(command, flags["curl"] === true ? "curl" : "dry-run");
}

/** Prints the calls or changes that the command would make. */
async function printPreview(
  context: Context,
  command: Command,
  { given, preview }: { readonly given: CommandInput<Flags>; readonly preview: CallPreview },
): Promise<ExitStatus> {
  const { explainPreview, formatPreview, runPreview } = await import("./preview.ts");
  const { io, globals, messages } = context;
  await runPreview(command, context, given);
  const { isLocalChange = false } = command;
  io.stdout.write(await formatPreview(preview, isForScripts(globals.format), isLocalChange));
  const profile = isLocalChange ? undefined : await context.profile();
  for (const line of explainPreview(preview, profile)) messages.info(line);
  messages.flush();
  return exitStatus.done;
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

/** Flags of lists that leave no record out. */
const displayFlags: ReadonlySet<string> = new Set(
  "account columns count deleted details limit page page-info since-id sort".split(" "),
);

/** Explains an empty list, with the commands of its noun that add records unless it was filtered. */
function describeEmptyList(name: string, table: CommandTable, given: CommandInput<Flags>): string {
  const noun = name.split(" ").slice(0, -1).join(" ");
  if (noun === "api") return "No results.";
  const isSet = (value: unknown) => value !== undefined && value !== false;
  const set = Object.entries(given.flags).flatMap(([flag, value]) => (isSet(value) ? [flag] : []));
  if (set.some((flag) => !displayFlags.has(flag))) return `No ${noun} match the filters.`;
  const verbs = ["import", "create"].map((verb) => `${noun} ${verb}`).filter((found) => found in table);
  if (verbs.length === 0 || given.arguments.length > 0) return `No ${noun} found.`;
  return `No ${noun} found. To add some, run ${verbs.map((found) => `\`starpost ${found}\``).join(" or ")}.`;
}
