import type { OperationName } from "../../../contract/index.ts";
import { RowStream, type Row } from "../../../terminal/row-stream.ts";
import { countOf } from "../../../terminal/plural.ts";
import { listAll } from "../../../service/list-all.ts";
import { callOf } from "../../../service/service.ts";
import type { FlagValues, Flags } from "../../program/command.ts";
import type { Connection } from "../../../app/ports.ts";
import type { Context } from "../../program/context.ts";
import type { OperationCard } from "./operation-card.ts";
import { shownColumns } from "./columns.ts";
import { needsOwnAccount, needsPassword, type OwnAccount, readInput } from "./input.ts";
import { countRefused } from "./view.ts";

interface Called {
  readonly operation: OperationName;
  readonly card: OperationCard;
}

interface Given {
  readonly arguments: readonly string[];
  readonly flags: FlagValues<Flags>;
}

/** Makes the call of a command, all pages of it where it lists. */
export async function runOperation(context: Context, called: Called, given: Given): Promise<RowStream | Row> {
  const { card } = called;
  const { readWholeInput } = await import("./input-file.ts");
  const whole = await readWholeInput(context, given.flags["input"] as string | undefined);
  const password = await readPassword(context, card, given);
  const read = (own: OwnAccount) => readInput(card, { ...given, whole, own, password });
  // What is missing is said before anything is opened.
  if (!needsOwnAccount(card)) read({ appKey: "", secret: undefined });
  const connection = await context.connect();
  let isStreamed = false;
  try {
    const secret = needsOwnAccount(card) ? await connection.readSecret() : undefined;
    const input = read({ appKey: connection.appKey, secret });
    if (card.listing) {
      const limit = given.flags["limit"] as number | undefined;
      const pages = readPages(connection, { operation: called.operation, input, limit });
      const columns = shownColumns[called.operation] ?? card.columns.slice(0, 7);
      isStreamed = true;
      return new RowStream(pages, { columns, allColumns: card.columns });
    }
    await askFirst(context, card, input);
    const answer = await callOf(connection.service, called.operation)(input);
    tell(context, card, answer);
    return answer;
  } finally {
    if (!isStreamed) await connection.close();
  }
}

async function readPassword(
  context: Context,
  card: OperationCard,
  { flags }: Given,
): Promise<string | undefined> {
  if (!needsPassword(card)) return undefined;
  const { readNewPassword } = await import("./new-password.ts");
  return readNewPassword(context, { isOnStdin: flags["password-stdin"] === true });
}

async function* readPages(
  connection: Connection,
  {
    operation,
    ...asked
  }: { readonly operation: OperationName; readonly input: Row; readonly limit: number | undefined },
): AsyncGenerator<readonly Row[]> {
  try {
    yield* listAll(connection.service, operation, asked);
  } finally {
    await connection.close();
  }
}

/** Asks before a call that destroys something, in the contract's words. */
async function askFirst(context: Context, { destroys }: OperationCard, input: Row): Promise<void> {
  if (!destroys) return;
  const { confirmByName, confirmDestruction } = await import("../../program/confirm.ts");
  const question = destroys.question.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => String(input[name]));
  if (destroys.typed === undefined) return confirmDestruction(context, `${question}?`);
  return confirmByName(context, `${question}.`, String(input[destroys.typed]));
}

/** Says what was done, and what was not. */
function tell({ messages }: Context, { effect, summary }: OperationCard, answer: Row): void {
  const refused = countRefused(answer);
  if (refused > 0) messages.warn(`The service refused ${countOf(refused, "part")} of it: see errors.`);
  else if (effect !== "read" && Object.keys(answer).length === 0) messages.info(`Done: ${summary}.`);
}
