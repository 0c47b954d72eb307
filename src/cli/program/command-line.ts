import { Command as CommanderCommand, type CommanderError, Option } from "commander";
import { type UserError, usageError } from "../../config/user-error.ts";
import type { Command } from "./command.ts";
import { type Flag, formatFlag } from "./flag.ts";
import type { ListedCommand } from "./commands.ts";
import { type GlobalFlags, globalFlags, helpFlag, versionFlag } from "./global-flags.ts";

export interface ParsedCommand {
  readonly command: Command;
  readonly arguments: readonly string[];
  /** By the parser's names, with values as typed. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly globals: GlobalFlags;
}

export interface ParsedQuestion {
  readonly asked: "version" | "help";
  /** Name of the command, noun, or group; empty for the program. */
  readonly about: string;
  /** Set if the command line is incomplete: it names a noun without a verb. */
  readonly problem?: UserError;
}

/**
 * Parses a command line. Global flags may appear anywhere in it.
 * @throws UserError `usage`
 */
export function parseCommandLine(
  argv: readonly string[],
  commands: readonly ListedCommand[],
): ParsedCommand | ParsedQuestion {
  let parsed: ParsedCommand | undefined;
  const root = createRoot();
  const isNounFirst = commands.some(({ name }) => name.split(" ")[0] === argv[0]);
  for (const declared of commands) {
    const noun = declared.name.split(" ")[0] ?? "";
    if (isNounFirst && noun !== argv[0]) continue;
    // Commands of other nouns cannot be meant; their nouns are only needed for suggestions.
    if (!argv.includes(noun)) {
      findOrAdd(root, noun);
      continue;
    }
    const parser = declared.name.split(" ").reduce(findOrAdd, root);
    if (!("run" in declared)) continue;
    parser.helpName = declared.name;
    declareInput(parser, declared);
    parser.action((...values: unknown[]) => {
      const args = values.slice(0, declared.argument?.split(" ").length ?? 0).flat() as string[];
      parsed = { command: declared, arguments: args, flags: parser.opts(), globals: root.opts() };
    });
  }
  try {
    root.parse([...argv], { from: "user" });
  } catch (error) {
    if (error instanceof Question) return error.question;
    throw error;
  }
  if (!parsed) throw new Error("the command line names no command");
  return parsed;
}

/** Ends the parsing when the parser meets a question. */
class Question extends Error {
  readonly question: ParsedQuestion;

  constructor(question: ParsedQuestion) {
    super();
    this.question = question;
  }
}

/** Commander with our own errors: it calls these methods instead of printing a message and exiting. */
class Parser extends CommanderCommand {
  helpName = "";

  override createCommand(name?: string): Parser {
    return new Parser(name);
  }

  unknownOption(flag: string): never {
    const parsers = [this, this.parent, this.parent?.parent, this.parent?.parent?.parent];
    const known = parsers.flatMap((parser) => parser?.options.flatMap(({ long }) => long ?? []) ?? []);
    const [name = ""] = flag.split("=", 1);
    if (known.includes(name)) throw this.#usage(`flag ${name} does not take a value`);
    throw this.#usage(`unknown flag ${flag}`, { given: flag, known: [...known, "--help"] });
  }

  unknownCommand(): never {
    const given = this.args[0] ?? "";
    const known = this.commands.map((command) => command.name());
    throw this.#usage(`unknown command ${JSON.stringify(given)} for ${JSON.stringify(pathOf(this))}`, {
      given,
      known,
    });
  }

  missingArgument(name: string): never {
    throw this.#usage(`missing argument <${name}>`);
  }

  optionMissingArgument({ flags }: Option): never {
    throw this.#usage(`flag ${flags.replace(/^-\w, /, "").split(" ")[0]} needs a value`);
  }

  _excessArguments(args: readonly string[]): never {
    const max = this.registeredArguments.length;
    const expected = max === 0 ? "no arguments" : `at most ${max} ${max === 1 ? "argument" : "arguments"}`;
    throw this.#usage(`too many arguments: expected ${expected}, got ${args.length}`);
  }

  /** Maps Commander's remaining exits, all of which show the version or help. */
  exit({ code, exitCode, message }: CommanderError): never {
    const about = this.helpName;
    if (code === "commander.version") throw new Question({ asked: "version", about });
    const [word] = this.args;
    if (this.commands.length > 0 && word !== undefined && !word.startsWith("-")) this.unknownCommand();
    if (exitCode === 0) throw new Question({ asked: "help", about });
    if (code !== "commander.help") throw this.#usage(message);
    const verbs = this.commands.map((command) => command.name()).join(", ");
    const problem = usageError(`missing command after "${pathOf(this)}"`, `Use one of: ${verbs}.`);
    throw new Question({ asked: "help", about, problem });
  }

  #usage(message: string, misnamed?: { readonly given: string; readonly known: readonly string[] }): UserError {
    return usageError(message, `See \`${pathOf(this)} --help\`.`, undefined, misnamed);
  }
}

function createRoot(): Parser {
  const root = configure(new Parser("starpost"), "");
  root.version("", formatFlag("version", versionFlag));
  root.helpOption(formatFlag("help", helpFlag));
  for (const [name, flag] of Object.entries<Flag>(globalFlags)) {
    root.addOption(new Option(formatFlag(name, flag)));
  }
  return root;
}

function findOrAdd(parent: Parser, word: string): Parser {
  const existing = parent.commands.find((command) => command.name() === word);
  if (existing) return existing as Parser;
  return configure(parent.command(word), `${parent.helpName} ${word}`.trimStart());
}

function configure(parser: Parser, helpName: string): Parser {
  parser.helpName = helpName;
  parser.helpInformation = () => "";
  return parser.exitOverride((error) => parser.exit(error)).configureOutput({ writeOut: () => {}, writeErr: () => {} });
}

function declareInput(parser: Parser, command: Command): void {
  for (const argument of command.argument?.split(" ") ?? []) parser.argument(argument);
  for (const [name, flag] of Object.entries(command.flags ?? {})) {
    const option = new Option(formatFlag(name, flag));
    parser.addOption(flag.isRepeatable ? option.argParser(collect) : option);
    if (Object.hasOwn(command.flags ?? {}, `no-${name}`)) refuseBoth(parser, name);
  }
}

/** The parser itself would use the last of the two. */
function refuseBoth(parser: Parser, name: string): void {
  const given = new Set<string>();
  for (const one of [name, `no-${name}`]) {
    parser.on(`option:${one}`, () => {
      if (given.add(one).size === 2) {
        throw usageError(`flags --${name} and --no-${name} cannot be used together`, "Remove one of them.");
      }
    });
  }
}

function collect(text: string, before: unknown): string[] {
  return [...(Array.isArray(before) ? (before as string[]) : []), text];
}

function pathOf(parser: CommanderCommand): string {
  return parser.parent ? `${pathOf(parser.parent)} ${parser.name()}` : parser.name();
}
