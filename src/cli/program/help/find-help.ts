import { UserError } from "../../../config/user-error.ts";
import { commands, nouns } from "../commands.ts";
import { describeProgram } from "./overview.ts";
import { topics } from "./topics/index.ts";
import { helpOfCommand, helpOfNoun } from "./help-text.ts";
import { textOfTopic, textOfTopics } from "./topic-text.ts";

/**
 * The help of what is named: a command, a noun or a group of commands, a topic, `topics`; nothing is the program.
 * @throws UserError `usage`
 */
export async function findHelp(words: readonly string[], width: number): Promise<string> {
  const name = words.join(" ");
  if (name === "") return describeProgram();
  if (name === "topics") return textOfTopics(topics, width);
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
  if (inside.length === 0) throw unknown(words);
  const loaded = await Promise.all(inside.map(([, loadOne]) => loadOne()));
  return helpOfNoun(name, nouns[words.at(-1) ?? ""] ?? "", loaded, width);
}

function unknown(words: readonly string[]): UserError {
  const known = [...Object.keys(commands), ...Object.keys(nouns), ...Object.keys(topics), "topics"];
  return new UserError(
    "usage",
    `there is no help about ${JSON.stringify(words.join(" "))}`,
    "`starpost --help` lists the commands, `starpost help topics` the topics.",
    undefined,
    { given: words.join(" "), known },
  );
}
