import { commandFiles, kindCommandFiles } from "./command-files.ts";
import { recordKinds } from "../../records/index.ts";
import type { Command, CommandTable } from "./command.ts";

/** The commands of each noun in the order of the help; others follow by name. */
const order: readonly string[] = Object.entries({
  products: "list,missed,promoted,set-promoted",
  orders: "list,get,create",
  coupons: "list,stats,issue,delete",
  unsubscribers: "list,add,remove,find,sync",
  reviews:
    "list,get,create,comment,edit-comment,delete-comment,publish,hide,requeue,history,moderate," +
    "rules list,rules add,rules delete,rules test,bottom-line",
  images: "upload,fetch",
  groups: "list,get,create,update,delete",
  questions: "list,ask,answer,edit-answer,delete-answer,publish,hide,delete,history",
  customers: "find,show,export,erase,erasures",
  imports: "list,show,report,resume,verify,undo,purge,apply",
  mail:
    "list,show,why,cancel,resend,unsuppress,test,send,run,stats,forecast,configure," +
    "campaign create,campaign list,campaign show,campaign stop,campaign resume,dkim create,dkim check,rules list,rules set," +
    "templates list,templates edit,templates preview,templates reset,provider-events",
  webhooks: "list,create,delete,deliveries,redeliver,trigger,listen,configure",
  shop: "snippet,check",
  demo: "",
  serve: "",
  api: "",
  account:
    "list,show,create,invitations,invite,disable,enable,delete,rotate-secret,revoke-tokens,create-credential,credentials," +
    "revoke-credential,set,brand show,brand set,brand reset,messages list,messages set,messages reset,features,set-feature,set-platform,allow-private-webhooks,email-status,enable-email,disable-email,set-email-quota,approve-recipient," +
    "remove-recipient",
  database: "status,distribute",
  backup: "create,list,verify,restore",
  "sealing-key": "rotate,retire",
  init: "",
  doctor: "",
  profile: "list,add,use,show,set,remove",
  auth: "status,token,login,logout,credentials",
  alias: "set,list,delete",
  completion: "",
  help: "",
}).flatMap(([noun, verbs]) => verbs.split(",").map((verb) => `${noun} ${verb}`.trimEnd()));

/** Every command by name, in the order of the help. A command is loaded only if the command line names it. */
export const commands: CommandTable = Object.fromEntries([
  ...recordKinds.flatMap((kind) =>
    (["import", "export", "plan", "map"] as const).map((verb) => {
      const name = `${kind.name} ${verb}`;
      return [name, async () => (await kindCommandFiles[verb]()).default(kind)(name)] as const;
    }),
  ),
  ...[...new Set([...order, ...Object.keys(commandFiles)])].flatMap((name) => {
    const load = commandFiles[name];
    return load ? [[name, async () => (await load()).default(name)] as const] : [];
  }),
]);

/** A loaded command, or only its name if the command line cannot refer to it. */
export type ListedCommand = Command | { readonly name: string };

/**
 * Loads the commands that a command line can refer to: the one that it names, or all commands of a noun.
 * @throws UserError `usage` for `api` with an unknown operation
 */
export async function loadCommands(table: CommandTable, argv: readonly string[]): Promise<readonly ListedCommand[]> {
  const operation = argv.includes("api") ? await loadOperation(argv) : undefined;
  const named = Object.keys(table).filter((name) => hasWords(argv, name.split(" ")));
  const namedNouns = new Set(named.map(nounOf));
  const isReferable = (name: string) =>
    namedNouns.has(nounOf(name)) ? named.includes(name) : argv.includes(nounOf(name));
  const loading = Object.entries(table).map(async ([name, load]) => {
    if (name === "api" && operation) return operation;
    return isReferable(name) ? await load() : { name };
  });
  return Promise.all(loading);
}

async function loadOperation(argv: readonly string[]): Promise<Command | undefined> {
  const { apiCommandOf, findNamedOperation } = await import("../commands/api/operations.ts");
  const operation = findNamedOperation(argv);
  return operation === undefined ? undefined : apiCommandOf(operation);
}

/** Whether a command or a noun has this name. */
export function isCommandWord(word: string, table: CommandTable): boolean {
  return Object.keys(table).some((name) => nounOf(name) === word);
}

function nounOf(name: string): string {
  return name.split(" ")[0] ?? "";
}

/** Whether the words occur in this order, with any others between them. */
function hasWords(argv: readonly string[], words: readonly string[]): boolean {
  let from = 0;
  return words.every((word) => (from = argv.indexOf(word, from) + 1) > 0);
}

const synonyms: Readonly<Record<string, readonly string[]>> = { ls: ["list"], rm: ["delete", "remove"] };

/** Replaces `ls` and `rm` with the verbs they stand for: `products ls` becomes `products list`. */
export function replaceSynonyms(argv: readonly string[], table: CommandTable): readonly string[] {
  const at = argv.findIndex((word) => Object.hasOwn(synonyms, word));
  if (at === -1) return argv;
  const names = Object.keys(table);
  const path: string[] = [];
  for (const word of argv.slice(0, at)) {
    if (names.some((name) => `${name} `.startsWith(`${[...path, word].join(" ")} `))) path.push(word);
  }
  if (path.length === 0) return argv;
  const verb = synonyms[argv[at] ?? ""]?.find((found) => [...path, found].join(" ") in table);
  return verb === undefined ? argv : argv.with(at, verb);
}
