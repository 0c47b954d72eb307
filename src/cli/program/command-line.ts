import { Command as Parser, type CommanderError, Option } from "commander";
import { UserError } from "../../config/user-error.ts";
import type { Command } from "./command.ts";
import { type ListedCommand, nouns } from "./commands.ts";
import { describeProgram } from "./help/overview.ts";
import { helpOfCommand, helpOfNoun } from "./help/help-text.ts";
import { formats, type GlobalFlags, globalFlags } from "./global-flags.ts";

/** A command line that asks for a command. */
export interface ParsedCommand {
  readonly command: Command;
  readonly arguments: readonly string[];
  /** By the parser's names, unread. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly globals: GlobalFlags;
}

/** A command line that asks for the help or the version, or that breaks off where a command has to be named. */
export interface ParsedQuestion {
  readonly asked: "help" | "version" | "whatFollows";
  /** What is printed; where the command line broke off, the help that says how it goes on. */
  readonly answer: string;
  /** Why it is no command, where it broke off. */
  readonly problem?: UserError;
}

/**
 * Reads a command line; global flags stand anywhere in it.
 * @throws UserError `usage`
 */
export function parseCommandLine(
  argv: readonly string[],
  commands: readonly ListedCommand[],
  about: { readonly version: string; readonly width: number },
): ParsedCommand | ParsedQuestion {
  let found: ParsedCommand | undefined;
  let printed = "";
  const names = commands.map(({ name }) => name);
  const root = createRoot(names, about, (text) => (printed += text));
  for (const declared of commands) {
    const noun = nounOf(declared.name);
    // What is under a noun that was not typed cannot be meant; its name alone serves the guess at a misspelt one.
    if (!argv.includes(noun)) {
      if (!root.commands.some(isNamed(noun))) addGroup(root, noun);
      continue;
    }
    const parser = addCommand(root, declared.name);
    if (!("run" in declared)) continue;
    describeCommand(parser, declared);
    parser.helpInformation = () => helpOfCommand(declared, about.width);
    parser.action((...given: unknown[]) => {
      const count = namesOf(declared.argument).length;
      const named = given.slice(0, count).flat() as string[];
      found = { command: declared, arguments: named, flags: parser.opts(), globals: root.opts() };
    });
  }
  describeGroups(root, commands.filter(isLoaded), about.width);
  try {
    root.parse([...argv], { from: "user" });
  } catch (error) {
    if (error instanceof BrokenOff) {
      const { answer, problem } = error;
      return { asked: "whatFollows", answer, problem };
    }
    if (!(error instanceof Answered)) throw error;
    return { asked: error.message as ParsedQuestion["asked"], answer: printed };
  }
  if (!found) throw new Error("the command line names no command");
  return found;
}

function nounOf(name: string): string {
  return name.split(" ")[0] ?? "";
}

/** Ends the parsing where the parser has answered by itself. */
class Answered extends Error {}

/** Ends the parsing at a noun without a verb. */
class BrokenOff extends Error {
  readonly answer: string;
  readonly problem: UserError;

  constructor(parser: Parser) {
    super();
    this.answer = parser.helpInformation();
    const verbs = parser.commands.map((found) => found.name()).join(", ");
    const what = `\`${pathOf(parser)}\` is not a whole command`;
    this.problem = new UserError("usage", what, `It goes on with one of: ${verbs}.`);
  }
}

function createRoot(
  names: readonly string[],
  { version }: { readonly version: string },
  print: (text: string) => void,
): Parser {
  const root = new Parser("starpost")
    .version(version, "--version", "print the version")
    .helpOption("-h, --help", "print the help")
    .configureOutput({ writeOut: print, writeErr: () => {} });
  root.helpInformation = () => describeProgram(names);
  for (const [flag, summary] of globalFlags) {
    const option = new Option(flag, summary);
    root.addOption(flag.startsWith("--format") ? option.choices(formats) : option);
  }
  refuseAsProblem(root);
  return root;
}

const isLoaded = (listed: ListedCommand): listed is Command => "run" in listed;

/** Gives each noun, and each group within one, a help of its own. */
function describeGroups(parent: Parser, commands: readonly Command[], width: number): void {
  for (const group of parent.commands.filter((found) => found.commands.length > 0)) {
    const name = pathOf(group).replace(/^starpost /, "");
    const inside = commands.filter((found) => found.name.startsWith(`${name} `));
    group.helpInformation = () => helpOfNoun(name, group.description(), inside, width);
    describeGroups(group, commands, width);
  }
}

function addCommand(root: Parser, name: string): Parser {
  const words = name.split(" ");
  const verb = words.pop() ?? "";
  const group = words.reduce(
    (parent, noun) => parent.commands.find(isNamed(noun)) ?? addGroup(parent, noun),
    root,
  );
  const parser = group.command(verb).description(words.length === 0 ? (nouns[verb] ?? "") : "");
  refuseAsProblem(parser);
  return parser;
}

function describeCommand(parser: Parser, { summary, argument, flags = {} }: Command): void {
  parser.description(summary);
  for (const name of namesOf(argument)) parser.argument(name);
  for (const [name, { short, value, description, isRepeatable }] of Object.entries(flags)) {
    const option = new Option(
      `${short ? `-${short}, ` : ""}--${name}${value ? ` ${value}` : ""}`,
      description,
    );
    parser.addOption(isRepeatable ? option.argParser(collect) : option);
  }
}

/** The arguments of a command, as the parser wants them: one by one. */
function namesOf(argument: string | undefined): string[] {
  return argument?.split(" ") ?? [];
}

const isNamed = (name: string) => (parser: Parser) => parser.name() === name;

function addGroup(parent: Parser, noun: string): Parser {
  const group = parent.command(noun).description(nouns[noun] ?? "");
  refuseAsProblem(group);
  return group;
}

function collect(text: string, before: unknown): string[] {
  return [...(Array.isArray(before) ? (before as string[]) : []), text];
}

/** Turns the parser's own errors, with their guess at what was meant, into ours. */
function refuseAsProblem(parser: Parser): void {
  parser.exitOverride((error) => {
    if (error.exitCode === 0) throw new Answered(error.code === "commander.version" ? "version" : "help");
    throw error.code === "commander.help" ? new BrokenOff(parser) : toProblem(error, parser);
  });
}

function toProblem(error: CommanderError, parser: Parser): UserError {
  const path = pathOf(parser);
  const seeHelp = `See \`${path} --help\`.`;
  const [message = "", ...guess] = error.message.replace(/^error: /, "").split("\n");
  const meant = guess.join(" ").replace(/^\((.*)\)$/, "$1");
  return new UserError("usage", message, meant === "" ? seeHelp : `${meant} ${seeHelp}`);
}

function pathOf(parser: Parser): string {
  return parser.parent ? `${pathOf(parser.parent)} ${parser.name()}` : parser.name();
}
