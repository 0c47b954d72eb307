import type { Transaction } from "kysely";
import {
  callerNames,
  type Endpoint,
  endpointOf,
  invalidField,
  isActorName,
  maxActorName,
  type OperationName,
  type PageStyle,
  ServiceError,
} from "../../contract/index.ts";
import {
  type CallEvent,
  type Caller,
  type CallOptions,
  type EngineOptions,
  NotModified,
  type PageOptions,
} from "../../service/transport.ts";
import type { AccountWrites } from "../../storage/account-writes.ts";
import type { Tables } from "../../storage/tables.ts";
import { authenticate, checkRole } from "./authenticate.ts";
import type { CallLimits } from "./call-limits.ts";
import type { Account, CallContext, HandlerContext, Operation, Preparation } from "./handler.ts";
import {
  type CallHashes,
  hashCall,
  honoredKey,
  isPublicCall,
  isRepeated,
  type KeyedCall,
  type KeyedResult,
  runOnce,
} from "./idempotency.ts";
import { findOwner, type OwnerNames } from "./owner.ts";
import type { ResponseCache } from "./response-cache.ts";
import { validateInput } from "./validate.ts";

type Outside = NonNullable<EngineOptions["outside"]>;

/** The account whose page is read, the language that its reader prefers, and the token of the link that leads to it. */
export interface PageReader extends Pick<PageOptions, "preferred"> {
  readonly accountId: number;
  readonly token: string | undefined;
}

/** What the calls of a transport share. */
export interface Engine {
  readonly limits: CallLimits;
  readonly writes: AccountWrites;
  readonly responses: ResponseCache;
  /** Runs public calls with the same idempotency key one after another, so that the limits count only the first. */
  readonly repeats: Map<string, Promise<unknown>>;
  /** Prepares bulk calls one after another, so that a small one does not overtake a large one. */
  readonly inSequence: Outside;
  readonly readPageStyle: (reader: PageReader, context: HandlerContext) => Promise<PageStyle>;
  readonly findOperation: (name: OperationName) => Promise<Operation>;
  /** Creates the context of a call that starts now, without its account. */
  readonly startCall: () => CallContext;
}

/** A call as its transport gets it. */
interface GivenCall {
  readonly name: OperationName;
  readonly given: unknown;
  readonly caller: Caller;
  readonly options: CallOptions;
}

/** Carries out a call. @returns the output */
export async function carryOut(call: GivenCall, engine: Engine): Promise<unknown> {
  const { name, caller, options } = call;
  const { limits, startCall } = engine;
  const { clientAddress } = options.engine ?? {};
  const endpoint = endpointOf(name);
  const checkCpu = async () => {
    // Calls with a secret are limited by their failures.
    if (clientAddress !== undefined && endpoint.needsSecret !== true) await limits.checkCpu(clientAddress);
  };
  if (caller.utoken === undefined) await checkCpu();
  const started = startCall();
  const account = await authenticate(started.database, endpoint, caller, started.nowMs);
  if (caller.utoken !== undefined && !(account && hasToken(account, endpoint))) await checkCpu();
  return runSteps(call, { ...started, account }, engine);
}

/** How a call runs what takes long before and after its transaction. A bulk call keeps its turn, since it has one at a time. */
function outsideOf({ batch }: Endpoint, { engine }: CallOptions, { inSequence }: Engine): Outside {
  return batch ? inSequence : (engine?.outside ?? ((work) => work()));
}

/** Runs pieces of work one after another. */
export function createSequence(): Outside {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };
}

/** Runs work after other work with the same key. */
async function runAfter<T>(key: string, running: Map<string, Promise<unknown>>, work: () => Promise<T>): Promise<T> {
  while (running.has(key)) await running.get(key)?.catch(() => {});
  const done = work();
  running.set(key, done);
  try {
    return await done;
  } finally {
    running.delete(key);
  }
}

/** Checks a call, and carries it out. */
async function runSteps(
  { name, given, caller, options }: GivenCall,
  started: CallContext,
  engine: Engine,
): Promise<unknown> {
  const { limits, findOperation } = engine;
  const { onEvent, engine: { inputStage, inputText, hasVersion } = {} } = options;
  const endpoint = endpointOf(name);
  const { account } = started;
  if (account) onEvent?.(describeCaller(account, endpoint));
  if (!endpoint.needsSecret) await limits.count({ endpoint, account, onEvent });
  checkRole(name, account);
  if (isKnown(endpoint, account, hasVersion)) throw new NotModified();
  const key = honoredKey(endpoint, account, options.idempotencyKey);
  const input = inputStage === undefined ? validateInput(endpoint, given, account?.isStore === true) : given;
  const operation = await findOperation(name);
  const { owner, counts, check } = operation;
  const ownerId = owner && (await read(started, (context) => findOwner(owner, input as OwnerNames, context)));
  const by = readCallerName(caller, account, endpoint);
  const call = { ...started, ownerId, by, isChecked: inputStage !== undefined };
  if (check) await read(call, (context) => check(input, context));
  if (endpoint.needsSecret) await limits.count({ endpoint, account, onEvent });
  const isPublic = isPublicCall(endpoint, account);
  // Results of calls that no limit counts would be stored in any number.
  const isKeyed = key !== undefined && !(isPublic && counts?.(input) === false);
  const hashes = isKeyed ? hashCall({ endpoint, key, input, inputText, isPublic }) : undefined;
  const checked = { name, operation, input, options, hashes };
  if (!hashes || !isPublic) return runChecked(checked, call, engine);
  return runAfter(`${account?.id} ${hashes.keyHash}`, engine.repeats, async () =>
    runChecked({ ...checked, isRepeat: await read(call, (context) => isRepeated(hashes, context)) }, call, engine),
  );
}

/** A call whose input is valid, and whose caller may make it. */
interface CheckedCall {
  readonly name: OperationName;
  readonly operation: Operation;
  readonly input: unknown;
  readonly options: CallOptions;
  /** Absent if the call has no idempotency key. */
  readonly hashes: CallHashes | undefined;
  /** The call was counted before. */
  readonly isRepeat?: boolean;
}

async function runChecked(
  { name, operation, input, options, hashes, isRepeat = false }: CheckedCall,
  call: CallContext,
  engine: Engine,
): Promise<unknown> {
  const { limits, writes, responses } = engine;
  const { onEvent, engine: { inputStage, clientAddress } = {} } = options;
  const { owner, counts, checkSignature, prepare, before, after } = operation;
  const { account } = call;
  const endpoint = endpointOf(name);
  const outside = outsideOf(endpoint, options, engine);
  const readSignature = checkSignature && (() => read(call, (context) => checkSignature(input, context)));
  if (!isRepeat) await limits.countPublic({ endpoint, input, call, clientAddress, counts, readSignature });
  const prepared = prepare && inputStage !== "prepared" ? await outside(() => prepare(input, call)) : input;
  if (before) await writeBefore(before(prepared, account), call, writes);
  let result: unknown;
  if (endpoint.effect === "read") {
    const run = () => read(call, (context) => runAll(operation, [prepared], context));
    result = await responses.read({ operation: name, account, input }, async () => (await run())[0]);
  } else {
    const written = await writeCall({ name, operation, input: prepared, hashes }, call, writes);
    if (hashes) onEvent?.({ type: "idempotency", isReplay: written.isReplay });
    result = written.output;
  }
  await reportPageStyle(call, { owner, input, options }, engine);
  return after ? await outside(() => after(result, prepared, call)) : result;
}

async function reportPageStyle(
  call: CallContext,
  { owner, input, options }: Pick<Operation, "owner"> & { readonly input: unknown; readonly options: CallOptions },
  { readPageStyle }: Engine,
): Promise<void> {
  const accountId = call.account?.id ?? call.ownerId;
  const { page } = options.engine ?? {};
  if (!page || accountId === undefined) return;
  const { preferred, onStyle } = page;
  const token = owner && "claim" in owner ? String((input as OwnerNames)[owner.claim]) : undefined;
  onStyle(await read(call, (context) => readPageStyle({ accountId, preferred, token }, context)));
}

/** Operations for which the token is optional state whether it is valid; all others but public ones require it. */
function hasToken({ isStore }: Account, { auth }: Endpoint): boolean {
  return isStore ?? auth !== "account";
}

/** @throws ServiceError `invalidParams` */
function readCallerName({ by }: Caller, account: Account | undefined, endpoint: Endpoint): string | undefined {
  if (by === undefined || endpoint.effect === "read" || !account || !hasToken(account, endpoint)) return undefined;
  if (isActorName(by, maxActorName.any)) return by;
  throw invalidField(callerNames.byHeader, `must be a name of at most ${maxActorName.any} visible characters`);
}

function describeCaller(account: Account, endpoint: Endpoint): CallEvent {
  const { appKey, role } = account;
  return { type: "account", appKey, hasToken: hasToken(account, endpoint), role };
}

/** Whether the caller has the response already. */
function isKnown(
  { caching }: Endpoint,
  account: Account | undefined,
  hasVersion: EngineOptions["hasVersion"],
): boolean {
  return caching?.byVersion === true && account?.version !== undefined && hasVersion?.(account.version) === true;
}

/** Runs `work` on a snapshot of the database. */
export function read<T>(call: CallContext, work: (context: HandlerContext) => Promise<T>): Promise<T> {
  const transaction = call.database.db.transaction().setAccessMode("read only");
  return transaction.execute((started) => work({ ...call, transaction: started }));
}

/** Runs `work` in a write transaction, after the writes of the account that wait already. */
export function write<T>(
  call: CallContext,
  writes: AccountWrites,
  work: (context: HandlerContext) => Promise<T>,
): Promise<T> {
  const accountId = call.account?.id ?? call.ownerId;
  return writes.run((transaction) => work({ ...call, transaction }), { accountId });
}

/** Each step has its own transaction, so that other calls can run in between. */
async function writeBefore(
  preparation: Preparation | undefined,
  call: CallContext,
  writes: AccountWrites,
): Promise<void> {
  if (!preparation) return;
  while (await read(call, preparation.isDue)) await write(call, writes, preparation.write);
}

async function runAll(
  { read: readFirst, runMany }: Operation,
  inputs: readonly unknown[],
  context: HandlerContext,
): Promise<readonly unknown[]> {
  return runMany(inputs, context, readFirst && (await readFirst(inputs, context)));
}

/** Runs a call in a write transaction, perhaps together with others of the account that wait for it. */
async function writeCall(
  { name, operation, input, hashes }: Pick<CheckedCall, "name" | "operation" | "input" | "hashes">,
  call: CallContext,
  writes: AccountWrites,
): Promise<KeyedResult> {
  const { account, ownerId, isChecked, by } = call;
  const keyed = hashes && { input, ...hashes };
  const workOnAll = async (calls: readonly unknown[], transaction: Transaction<Tables>) => {
    const context = { ...call, transaction };
    if (keyed) return runOnce(endpointOf(name), calls as readonly KeyedCall[], operation, context);
    return (await runAll(operation, calls, context)).map((output) => ({ output, isReplay: false }));
  };
  const key = JSON.stringify([name, account?.isStore, isChecked, keyed !== undefined, by]);
  const combinable = { key, ids: keyed ? [keyed.keyHash] : [], input: keyed ?? input, workOnAll };
  const runAlone = async (transaction: Transaction<Tables>) => {
    const [result] = await workOnAll([combinable.input], transaction);
    if (!result) throw new Error("a call has no result");
    return result;
  };
  const result = await writes.run(runAlone, {
    accountId: account?.id ?? ownerId,
    combinable: operation.combines(input, account) ? combinable : undefined,
  });
  // Of several calls that were combined, each can be rejected on its own.
  if (result.output instanceof ServiceError) throw result.output;
  return result;
}
