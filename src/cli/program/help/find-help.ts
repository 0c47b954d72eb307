import { UserError } from "../../../config/user-error.ts";
import type { CommandTable } from "../command.ts";
import { nouns } from "./groups.ts";
import { describeProgram } from "./overview.ts";
import { topics } from "./topics/index.ts";
import { helpOfCommand, helpOfNoun, listEntries, widthOfHelp } from "./help-text.ts";
import { wrapIndented } from "../../../terminal/wrap-text.ts";
import type { Block, Topic } from "./topics/topic.ts";

/**
 * The help for a command, a noun or group, a topic, or `topics`; with an empty name, for the program.
 * @throws UserError `usage` if nothing has this name
 */
export async function findHelp(
  commands: CommandTable,
  name: string,
  columns: number | undefined,
): Promise<string> {
  const width = widthOfHelp(columns);
  const words = name.split(" ");
  if (name === "") return describeProgram();
  if (name === "topics") return textOfTopics(width);
  const topic = Object.hasOwn(topics, name) ? topics[name] : undefined;
  if (topic) return textOfTopic(await topic.load(), width);
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load) return helpOfCommand(await load(), width);
  if (words[0] === "api") {
    const { apiCommands } = await import("../../commands/api/operations.ts");
    const loadOperation = Object.hasOwn(apiCommands, name) ? apiCommands[name] : undefined;
    if (loadOperation) return helpOfCommand(await loadOperation(), width);
  }
  const inside = Object.entries(commands).filter(([known]) => known.startsWith(`${name} `));
  if (inside.length === 0) throw unknownName(name, commands);
  const loaded = await Promise.all(inside.map(([, loadOne]) => loadOne()));
  return helpOfNoun(name, nouns[words.at(-1) ?? ""] ?? "", loaded, width);
}

function unknownName(name: string, commands: CommandTable): UserError {
  const known = [...Object.keys(commands), ...Object.keys(nouns), ...Object.keys(topics), "topics"];
  return new UserError(
    "usage",
    `no help found for ${JSON.stringify(name)}`,
    "Use `starpost --help` to list commands, or `starpost help topics` to list topics.",
    undefined,
    { given: name, known },
  );
}

export function textOfTopic({ name, summary, blocks }: Topic, width: number): string {
  const title = wrapIndented(`${name}: ${summary}`, width, 2).join("\n");
  return `${[title, ...blocks.map((block) => textOfBlock(block, width))].join("\n\n")}\n`;
}

function textOfBlock(block: Block, width: number): string {
  if (typeof block === "string") return wrapIndented(block, width, 0).join("\n");
  if ("lines" in block) return block.lines.map((line) => `  ${line}`).join("\n");
  return listEntries(
    block.rows.map(([term, description]) => ({ term, description })),
    width,
  ).join("\n");
}

/** The list of topics. */
function textOfTopics(width: number): string {
  const found = Object.entries(topics).map(([term, { summary }]) => ({ term, description: summary }));
  return `${["TOPICS (starpost help <topic>)", ...listEntries(found, width)].join("\n")}\n`;
}
