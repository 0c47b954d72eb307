import type { OperationName } from "../../../contract/index.ts";
import { type Row, RowStream } from "../../../terminal/row-stream.ts";
import { table } from "../../../terminal/view.ts";
import { command, type CommandFactory } from "../../program/command.ts";
import type { Flags } from "../../program/flag.ts";
import { exitStatus } from "../../program/exit-status.ts";
import { writeExamples } from "./examples.ts";
import type { OperationCard } from "./operation-card.ts";
import { operationCards } from "./operation-cards.ts";
import { argumentOf, describeArguments, flagsOf } from "./operation-flags.ts";
import type { OperationHooks } from "./run.ts";
import { countRejected, viewOf } from "./view.ts";
import { type ErrorKind, ServiceError } from "../../../contract/errors.ts";
import { describeFailure } from "../../program/errors/failure.ts";

export interface OperationCommand {
  /** Defaults to the summary in the contract. */
  readonly summary?: string;
  /** Defaults to generated examples. */
  readonly examples?: readonly string[];
  /** Fields that are positional arguments in addition to those in the path. */
  readonly arguments?: readonly string[];
  /** Fields whose flags name files. They are sent in base64. */
  readonly files?: readonly string[];
  /** Values of fields for which the command has no flags. */
  readonly preset?: Readonly<Record<string, unknown>>;
  /** Values of fields that are not given. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** Columns that the command adds to those of the response. */
  readonly addedColumns?: readonly string[];
  /** What the command does in addition to the call. */
  readonly hooks?: () => Promise<OperationHooks>;
  /** Whether the command is `starpost api <operation>`. */
  readonly isCalledByName?: true;
}

export function operationCommand(operation: OperationName, presentation: OperationCommand = {}): CommandFactory {
  const card = adaptCard(operation, presentation);
  const argument = argumentOf(card);
  const declared = command<Flags, RowStream | Row>({
    summary: card.summary,
    ...(argument !== undefined && { argument, argumentHelp: describeArguments(operation, card) }),
    flags: flagsOf(operation, card),
    columns: card.columns,
    calls: card.effect === "read" ? "read" : "write",
    ...(addsRecord(operation, card) && { database: "created" }),
    notes: describeOperation(operation, card),
    run: async (context, given) => {
      const { runOperation } = await import("./run.ts");
      return runOperation(context, { operation, card, hooks: await presentation.hooks?.() }, given);
    },
    render: (data) => (data instanceof RowStream ? table([], data.columns) : viewOf(data)),
    exitStatus: (data) =>
      !(data instanceof RowStream) && countRejected(data) > 0 ? exitStatus.someRejected : exitStatus.done,
  });
  return (name) => ({
    ...declared(name),
    examples: presentation.examples ?? writeExamples(name, operation, card),
  });
}

/** Whether an operation adds a record that belongs to no other. */
function addsRecord(operation: OperationName, { path }: OperationCard): boolean {
  const hasRecord = path.replace("{app_key}", "").includes("{");
  return /\.(?:add|create|createNow|massCreate)$/.test(operation) && !hasRecord;
}

function adaptCard(operation: OperationName, presentation: OperationCommand): OperationCard {
  const card = operationCards[operation];
  if (!card) throw new Error(`there is no card for ${operation}`);
  const { summary = card.summary, arguments: positional = [], files = [], preset = {}, defaults = {} } = presentation;
  const fields = card.fields
    .filter(({ path }) => !Object.hasOwn(preset, path[0] ?? ""))
    .map(({ isRequired, ...field }) =>
      Object.assign(
        field,
        isRequired && !Object.hasOwn(defaults, field.path[0] ?? "") && { isRequired },
        positional.includes(field.path.join(".")) && { isArgument: true as const },
        files.includes(field.path.join(".")) && { isFile: true as const },
      ),
    );
  const isCalledByName = presentation.isCalledByName && { isCalledByName: true as const };
  const columns = [...card.columns, ...(presentation.addedColumns ?? [])];
  return { ...card, summary, fields, columns, preset, defaults, ...isCalledByName };
}

/** The notes at the end of an operation's help: method and path, pagination, columns, errors with their exit statuses. */
function describeOperation(operation: string, card: OperationCard): readonly string[] {
  const { method, path, errors, listing, isExtension, columns, detailColumns = [] } = card;
  const failures = errors.map((kind) => `${kind} (${describeStatus(kind)})`);
  return [
    `Operation ${operation}: ${method} ${path}${isExtension ? " (starpost extension)" : ""}.`,
    ...(listing?.by ? ["Reads all pages. To stop early, use --limit."] : []),
    ...(columns.length > 0 ? [`Columns: ${columns.join(", ")}.`] : []),
    ...(detailColumns.length > 0 ? [`Columns that imply --details: ${detailColumns.join(", ")}.`] : []),
    `Errors and their exit statuses: ${failures.join(", ")}.`,
  ];
}

/** A missing record and a missing account have different exit statuses. */
function describeStatus(kind: ErrorKind): string {
  const { status } = describeFailure(new ServiceError(kind, ""));
  return kind === "recordNotFound" ? `${exitStatus.failed}; ${status} if the account is not found` : String(status);
}
