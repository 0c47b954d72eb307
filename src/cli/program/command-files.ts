import type { RecordKind } from "../../import/kind.ts";
import type { CommandFactory } from "./command.ts";

// The build and the tests replace this module, from the folder `cli/commands`: see `.ci/generated-modules.js`.

/** The files that declare a command, by the name of the command. */
export declare const commandFiles: Readonly<Record<string, () => Promise<{ readonly default: CommandFactory }>>>;

/** The files that declare a command that every record kind has, by its verb. */
export declare const kindCommandFiles: Readonly<
  Record<
    "import" | "export" | "plan" | "map",
    () => Promise<{ readonly default: (kind: RecordKind) => CommandFactory }>
  >
>;
