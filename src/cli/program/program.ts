import { type ParsedCommand, parseCommandLine } from "./command-line.ts";
import { type CommandTable, commands, loadCommands } from "./commands.ts";
import { type ExitStatus, exitStatus } from "./exit-status.ts";
import { readGlobals, wantsJson, wantsRedaction } from "./global-flags.ts";
import type { Io } from "./io.ts";
import { widthOfHelp } from "./help/help-text.ts";

/** Runs one command line to its end. Whatever goes wrong is said here, and becomes an exit status here. */
export async function runProgram(io: Io, table: CommandTable = commands): Promise<ExitStatus> {
  if (!wantsRedaction(io.argv, io.env)) return runCommandLine(io, table);
  const { redactIo } = await import("./output/redacted-io.ts");
  const redacted = await redactIo(io);
  try {
    return await runCommandLine(redacted.io, table);
  } finally {
    redacted.flush();
  }
}

async function runCommandLine(io: Io, table: CommandTable): Promise<ExitStatus> {
  try {
    const listed = await loadCommands(table, io.argv);
    const parsed = parseCommandLine(io.argv, listed, { version: io.version, width: widthOfHelp(io.columns) });
    if ("problem" in parsed && parsed.problem) {
      // A person who types the first word to see what there is wants that; a log wants two lines.
      if (wantsJson(io.argv) || !io.isStderrTerminal) throw parsed.problem;
      io.stderr.write(parsed.answer);
      return exitStatus.usage;
    }
    if ("asked" in parsed) {
      const data = parsed.asked === "version" ? { version: io.version } : { help: parsed.answer };
      io.stdout.write(wantsJson(io.argv) ? `${JSON.stringify(data)}\n` : parsed.answer);
      return exitStatus.done;
    }
    return await runCommand(io, parsed, table);
  } catch (error) {
    const { reportFailure } = await import("./errors/error-report.ts");
    return reportFailure(io, error);
  }
}

async function runCommand(io: Io, parsed: ParsedCommand, table: CommandTable): Promise<ExitStatus> {
  const { command } = parsed;
  const globals = readGlobals(parsed.globals);
  const { createContext } = await import("./context.ts");
  const { createMessages } = await import("./output/messages.ts");
  const { readFlagValues } = await import("./flag-values.ts");
  const flags = readFlagValues(command.flags ?? {}, parsed.flags);
  const messages = createMessages(io, globals);
  const data = await command.run(createContext(io, globals, messages), {
    arguments: parsed.arguments,
    flags,
  });
  if (data !== undefined && (command.isPrinted?.(data) ?? true)) {
    const { print } = await import("./output/print.ts");
    const rows = await print(io, globals, { data, view: () => command.render(data) });
    if (rows === 0) messages.info(describeNothing(command.name, table));
  }
  messages.flush();
  return command.exitStatus?.(data) ?? exitStatus.done;
}

/** That a list is empty, and which commands of its noun would fill it. */
function describeNothing(name: string, table: CommandTable): string {
  const noun = name.split(" ").slice(0, -1).join(" ");
  const makers = ["import", "create"].map((verb) => `${noun} ${verb}`).filter((maker) => maker in table);
  const how = makers.map((maker) => `\`starpost ${maker}\``).join(" or ");
  return how === "" ? "There are none." : `There are none: ${how} would make some.`;
}
