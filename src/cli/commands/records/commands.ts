import type { RecordKind } from "../../../import/kind.ts";
import { recordKinds } from "../../../records/index.ts";
import type { Command } from "../../program/command.ts";

type Loader = () => Promise<Command>;

/** The commands that every record kind has: `import`, `export`, `plan`, and `map`. */
export const recordCommands: Readonly<Record<string, Loader>> = Object.fromEntries(
  recordKinds.flatMap((kind) => listCommands(kind)),
);

export const recordNouns: Readonly<Record<string, string>> = Object.fromEntries(
  recordKinds.map(({ name }) => [name, `Import and export ${name}`]),
);

function listCommands(kind: RecordKind): (readonly [string, Loader])[] {
  return [
    [`${kind.name} import`, async () => (await import("./import-command.ts")).importCommand(kind)],
    [`${kind.name} export`, async () => (await import("./export-command.ts")).exportCommand(kind)],
    [`${kind.name} plan`, async () => (await import("./plan-command.ts")).planCommand(kind)],
    [`${kind.name} map`, async () => (await import("./map-command.ts")).mapCommand(kind)],
  ];
}
