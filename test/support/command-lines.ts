import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Command } from "../../src/cli/program/command.ts";
import { tinyPng } from "./photos.ts";
import { runBuilt } from "./built-program.ts";

/** The contents of the home in which the commands run. */
export interface Stock {
  readonly folder: string;
  /** The ID of the finished run. Emails, webhooks, deliveries, and reviews have the ID 1. */
  readonly importId: string;
  readonly appKey: string;
}

/** A command line for which a command does its work. */
export interface CommandLine {
  /** The words after the command's name. */
  readonly words: (stock: Stock) => readonly string[];
  readonly stdin?: string;
  /** Why the command fails with these words, if it does. */
  readonly refused?: string;
  /** Why the command runs until it gets a signal, if it does. */
  readonly waits?: string;
}

const file = (name: string) => resolve(`fixtures/good/${name}`);
const words = (...given: string[]): CommandLine => ({ words: () => given });
const nothing = words();

const noRecord = "there is no such record here";

/** Commands with their own workflow. */
const workflows: Readonly<Record<string, CommandLine>> = {
  "products import": words(file("products.csv")),
  "products export": nothing,
  "orders import": words(file("orders.csv")),
  "orders export": nothing,
  "coupons import": words(file("coupons.csv"), "--action", "map_review"),
  "coupons export": nothing,
  "coupons issue": { ...words("--action", "map_share", "--to", "ann@mail.example"), refused: noRecord },
  "unsubscribers import": words(file("unsubscribers.csv"), "--type", "1"),
  "unsubscribers export": nothing,
  "unsubscribers sync": words(file("unsubscribers.csv"), "--type", "1"),
  "products plan": words(file("products.csv")),
  "orders plan": words(file("orders.csv")),
  "coupons plan": words(file("coupons.csv"), "--action", "map_review"),
  "unsubscribers plan": words(file("unsubscribers.csv"), "--type", "1"),
  "reviews plan": { words: ({ folder }) => [join(folder, "reviews.csv")] },
  "reviews import": { words: ({ folder }) => [join(folder, "reviews.csv")] },
  "reviews export": nothing,
  "products map": words(file("products.csv")),
  "orders map": words(file("orders.csv")),
  "coupons map": words(file("coupons.csv")),
  "unsubscribers map": words(file("unsubscribers.csv")),
  "reviews map": { words: ({ folder }) => [join(folder, "reviews.csv")] },
  "groups import": { words: ({ folder }) => [join(folder, "groups.csv")] },
  "groups plan": { words: ({ folder }) => [join(folder, "groups.csv")] },
  "groups map": { words: ({ folder }) => [join(folder, "groups.csv")] },
  "groups export": nothing,
  "customers export": words("ann@mail.example"),
  "customers find": words("smith"),
  api: words("GET", "/apps/{app_key}/purchases"),
  "imports list": nothing,
  "imports show": { words: ({ importId }) => [importId] },
  "imports resume": { words: ({ importId }) => [importId] },
  "imports report": { words: ({ importId, folder }) => [importId, "--out", join(folder, "report.html")] },
  "imports verify": { words: ({ importId }) => [importId] },
  "imports undo": { words: ({ importId }) => [importId, "--yes"] },
  "imports purge": words("--older-than", "0h", "--yes"),
  "imports apply": { words: ({ folder }) => [join(folder, "plan.json")] },
  "mail campaign create": words(
    ..."--name May --category custom_map --since 2020-01-01 --rate 5/hour --yes".split(" "),
  ),
  "mail campaign list": nothing,
  "mail campaign show": { ...words("1"), refused: noRecord },
  "mail campaign stop": { ...words("1"), refused: noRecord },
  "mail campaign resume": { ...words("1"), refused: noRecord },
  "mail configure": words("--show"),
  "mail dkim create": { ...nothing, refused: "no sender is configured here" },
  "mail dkim check": { ...nothing, refused: "there is no key here" },
  "mail templates list": nothing,
  "mail templates edit": words("map", "--print"),
  "mail templates preview": { words: ({ folder }) => ["map", "--out", join(folder, "page.html")] },
  "mail templates reset": words("map", "--yes"),
  "mail run": { ...nothing, waits: "it sends what becomes due; with --once it ends" },
  "mail list": nothing,
  "mail show": words("1"),
  "mail cancel": words("--email-id", "1", "--yes"),
  "mail resend": { ...words("1", "--yes"), refused: noRecord },
  "mail unsuppress": words("ann@mail.example"),
  "mail send": words("--category", "mail_after_service", "--to", "ann@mail.example", "--yes"),
  "mail test": words("--to", "ann@mail.example"),
  "mail stats": nothing,
  "mail provider-events": nothing,
  "mail why": words("1001"),
  "mail rules list": nothing,
  "mail rules set": words("due_after_days", "7"),
  "webhooks list": nothing,
  "webhooks create": words("https://shop.example/another"),
  "webhooks delete": words("1", "--yes"),
  "webhooks deliveries": nothing,
  "webhooks redeliver": words("1"),
  "webhooks trigger": words("review_create"),
  "webhooks listen": { ...nothing, waits: "it shows events until a signal stops it" },
  "webhooks configure": nothing,
  "database status": nothing,
  "database distribute": { ...words("--yes"), refused: "a SQLite file cannot be distributed" },
  "backup create": nothing,
  "backup list": nothing,
  "backup verify": { ...words("none.tar.gz"), refused: "the file does not exist" },
  "backup restore": { ...words("none.tar.gz", "--yes"), refused: "the file does not exist" },
  "sealing-key rotate": nothing,
  "sealing-key retire": words("--yes"),
  "account list": nothing,
  "account brand set": { words: ({ folder }) => ["--logo", join(folder, "photo.png")] },
  "account brand reset": words("--yes"),
  "account messages set": words("--language", "en", "--key", "page.mine.edit", "--text", "Change", "--yes"),
  "account messages reset": words("--yes"),
  "account show": nothing,
  "account create": words("--name", "Tea & Cups"),
  "account invitations": nothing,
  "account invite": nothing,
  "account disable": { ...words("none"), refused: noRecord },
  "account enable": { ...words("none"), refused: noRecord },
  "account delete": { ...words("none", "--yes"), refused: noRecord },
  "account rotate-secret": { ...words("none"), refused: noRecord },
  "account revoke-credential": { ...words("1", "--yes"), refused: noRecord },
  "account revoke-tokens": { ...words("none"), refused: noRecord },
  "account allow-private-webhooks": { ...words("none"), refused: noRecord },
  "account email-status": { words: ({ appKey }) => [appKey] },
  "account enable-email": { words: ({ appKey }) => [appKey] },
  "account disable-email": { words: ({ appKey }) => [appKey] },
  "account set-email-quota": { words: ({ appKey }) => [appKey, "500"] },
  "account approve-recipient": { words: ({ appKey }) => [appKey, "ann@mail.example"] },
  "account remove-recipient": { words: ({ appKey }) => [appKey, "ann@mail.example"] },
  "alias set": words("co", "customers show"),
  "alias list": nothing,
  "alias delete": { ...words("co"), refused: noRecord },
  completion: words("bash"),
  doctor: nothing,
  "shop snippet": words("--for", "html", "--public-url", "https://reviews.shop.example"),
  "shop check": { ...words("http://127.0.0.1:1/"), refused: "private addresses are refused" },
  demo: { ...nothing, waits: "it serves until a signal stops it" },
  serve: { ...words("--port", "0"), waits: "it serves until a signal stops it" },
  init: words("--local"),
  "unsubscribers find": { ...words("ann@mail.example"), refused: noRecord },
  "profile set": words("another", "--live"),
  "profile remove": words("another", "--yes"),
  "images upload": {
    words: ({ folder }) => ["--image-file", join(folder, "photo.png"), "--image-upload-token", "none"],
    refused: "the token is invalid",
  },
  "auth logout": { ...words("--profile", "local"), refused: "the embedded engine is always signed in" },
  "auth status": nothing,
  "auth token": nothing,
  "auth credentials": nothing,
  "auth login": {
    ...words("--base-url", "ftp://shop.example", "--app-key", "k", "--secret-stdin", "--profile", "shop"),
    stdin: "s3cret\n",
    refused: "the base URL is invalid",
  },
};

/** Commands for an operation whose first example needs or contradicts records of the stock. */
const calls: Readonly<Record<string, CommandLine>> = {
  "questions answer": { ...words("1", "--content", "Thank you!"), refused: noRecord },
  "questions edit-answer": { ...words("1", "--content", "Yes"), refused: noRecord },
  "questions delete-answer": { ...words("1", "--yes"), refused: noRecord },
  "questions publish": { ...words("1"), refused: noRecord },
  "questions hide": { ...words("1"), refused: noRecord },
  "questions delete": { ...words("1", "--yes"), refused: noRecord },
  "questions history": { ...words("1"), refused: noRecord },
  "groups create": words("pots"),
  "reviews list": words("--since", "7d", "--score", "1..2"),
  "orders get": { ...words("none"), refused: noRecord },
  "orders create": words(
    "--order-id",
    "2001",
    "--products",
    '{"mug": {"name": "Mug", "url": "https://shop.example/mug"}}',
    "--email",
    "ann@mail.example",
    "--platform",
    "general",
    "--customer-name",
    "Ann Lee",
  ),
  "reviews get": words("1"),
  "reviews comment": words("1", "--content", "Thank you!"),
  "reviews edit-comment": { ...words("1", "--content", "Thank you!"), refused: noRecord },
  "reviews delete-comment": { ...words("1", "--yes"), refused: noRecord },
  "reviews publish": words("1"),
  "reviews requeue": words("1"),
  "reviews moderate": nothing,
  "reviews rules delete": { ...words("1", "--yes"), refused: noRecord },
  "reviews rules test": words("--content", "casino"),
  "reviews hide": words("1"),
  "reviews history": words("1"),
};

/** Returns the command line of a command; undefined if neither this file nor its examples contain one. */
export function commandLineOf({ name, examples = [] }: Command): CommandLine | undefined {
  const known = workflows[name] ?? calls[name];
  if (known) return known;
  const [example = ""] = examples;
  const split = /[$<|`]/.test(example) ? undefined : splitWords(example);
  const given = split?.slice(1 + name.split(" ").length);
  // Destructive commands prompt if no one can answer.
  return given && { words: () => [...given, "--yes"] };
}

/** The names listed here; all of them must exist. */
export const listedNames: readonly string[] = [...Object.keys(workflows), ...Object.keys(calls)];

/** Splits a line at spaces like a shell; single quotes group words. */
export function splitWords(line: string): string[] {
  return [...line.matchAll(/(?:[^\s']+|'[^']*')+/g)].map(([word]) => word.replaceAll("'", ""));
}

/** Runs a command in a home and returns its JSON. */
export type HomeCall = <T>(...argv: string[]) => Promise<T>;

/**
 * Creates a home with some records of each kind, restored before each command.
 * @param addMore adds records of its own
 */
export async function stockHome(
  addMore: (call: HomeCall, folder: string) => Promise<void> = async () => {},
): Promise<Stock & { readonly renew: () => void; readonly remove: () => void }> {
  const root = mkdtempSync(join(tmpdir(), "starpost-stock-"));
  const [folder, kept] = [join(root, "home"), join(root, "kept")];
  mkdirSync(folder);
  const call: HomeCall = async <T>(...argv: string[]): Promise<T> => {
    const { status, stdout, stderr } = await runBuilt([...argv, "--json"], { env: { STARPOST_HOME: folder } });
    if (status !== 0) throw new Error(`${argv.join(" ")}: ${stderr}`);
    return JSON.parse(stdout) as T;
  };
  const orders = file("orders.csv");
  const products = ["teapot", "mug", "samovar"].map((id) => [id, { name: id, url: `https://shop.example/${id}` }]);
  const { app_key: appKey } = await call<{ app_key: string }>("init", "--local");
  const { import_id: importId } = await call<{ import_id: string }>("orders", "import", orders, "--send-mail");
  await call("api", "products.massCreate", "--products", JSON.stringify(Object.fromEntries(products)));
  await call("groups", "create", "teapots");
  await call("profile", "add", "another", "--database", join(folder, "another.db"));
  await call("webhooks", "create", "https://shop.example/hook");
  await call("api", "reviews.createNow", ...reviewWords);
  const columns = "product_id,review_title,review_content,review_score,display_name,email,date";
  writeFileSync(join(folder, "reviews.csv"), `${columns}\nteapot,Good,It pours,5,Bo,bo@mail.example,2026-01-31\n`);
  writeFileSync(join(folder, "photo.png"), Buffer.from(tinyPng, "base64"));
  writeFileSync(join(folder, "groups.csv"), "group,product_id\nteapots,teapot\n");
  await call("orders", "plan", orders, "--out", join(folder, "plan.json"));
  await addMore(call, folder);
  cpSync(folder, kept, { recursive: true });
  let renewed = "";
  return {
    folder,
    importId,
    appKey,
    renew: () => {
      if (describeFiles(folder) === renewed) return;
      rmSync(folder, { recursive: true, force: true });
      cpSync(kept, folder, { recursive: true });
      renewed = describeFiles(folder);
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** The names, sizes, and times of the files in a folder, except the index of a write-ahead log, which readers change, too. */
function describeFiles(folder: string): string {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => !path.endsWith("-shm"));
  const describe = (path: string) => {
    const { size, mtimeMs } = statSync(join(folder, path));
    return path.endsWith("-wal") && size === 0 ? "" : `${path} ${size} ${mtimeMs}`;
  };
  return paths.map(describe).toSorted().join("\n");
}

const reviewWords = splitWords(
  "--sku teapot --product-title Teapot --display-name 'Ann Lee' --email ann@mail.example --review-content 'It pours well' --review-title 'A good pot' --review-score 5",
);
