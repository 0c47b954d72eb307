import { wrapIndented } from "../../../terminal/wrap-text.ts";
import type { Block, Topic } from "./topics/topic.ts";
import { listEntries } from "./help-text.ts";

/** A topic, wrapped to the width. */
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
export function textOfTopics(
  topics: Readonly<Record<string, { readonly summary: string }>>,
  width: number,
): string {
  const found = Object.entries(topics).map(([term, { summary }]) => ({ term, description: summary }));
  return `${["TOPICS (starpost help <topic>)", ...listEntries(found, width)].join("\n")}\n`;
}
