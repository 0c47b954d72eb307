import { commands } from "../../src/cli/program/commands.ts";
import { topics } from "../../src/cli/program/help/topics.ts";
import { createDocument } from "../../src/server/openapi/document.ts";
import { nounOf, writeIndex, writeNounPage } from "./command-docs.ts";
import { capacityPage, writeCapacityPage } from "./capacity-page.ts";
import { frameModule, writeFrameModule } from "./email-frame.ts";
import { writeErrorsPage } from "./errors-page.ts";
import { writeLimitsPage } from "./limits-page.ts";
import { writeRolesPage } from "./roles-page.ts";

/** A folder that contains generated files only. */
export const generatedFolder = "docs/reference/commands";

/** Returns the text of every generated file that is committed, by its path from the root of the repository. */
export async function generateFiles(version: string): Promise<ReadonlyMap<string, string>> {
  const all = await Promise.all(Object.values(commands).map((load) => load()));
  const nouns = [...new Set(all.map(nounOf))];
  return new Map([
    ["docs/reference/openapi.json", `${JSON.stringify(createDocument({ version }), null, 2)}\n`],
    ...nouns.map((noun) => [`${generatedFolder}/${noun}.md`, writeNounPage(noun, all)] as const),
    ["docs/reference/errors.md", writeErrorsPage()],
    ["docs/reference/limits.md", writeLimitsPage()],
    ["docs/reference/roles.md", writeRolesPage()],
    [frameModule, await writeFrameModule()],
    [capacityPage, writeCapacityPage()],
    [`${generatedFolder}/README.md`, writeIndex(all, Object.values(topics))],
  ]);
}
