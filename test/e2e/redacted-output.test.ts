import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BuiltRun, loadCommands, runBuilt, sendSignalsRepeatedly } from "../support/built-program.ts";
import { type CommandLine, commandLineOf, type HomeCall, stockHome } from "../support/command-lines.ts";
import { sample } from "../support/suite-size.ts";

/** A person whose name and address resemble nothing else. */
const [first, last, local, host] = ["Zwxqyl", "Vkjqzem", "qzwkyfj", "xvqwzk"] as const;
const name = `${first} ${last}`;
const email = `${local}@${host}.example`;
const starts = [first, last, local, host].map((word) => word.slice(0, 4).toLowerCase());

const commands = await loadCommands();
let stock: Awaited<ReturnType<typeof stockHome>>;
let hidden = 0;
let reviewId = "";

async function findReview(folder: string): Promise<string> {
  const { stdout } = await runBuilt(["reviews", "list", "--email", email, "--json"], {
    env: { STARPOST_HOME: folder },
  });
  return String((JSON.parse(stdout) as { id: number }[])[0]?.id);
}

async function addPerson(add: HomeCall, folder: string): Promise<void> {
  const url = "https://shop.example/x";
  const about = { email, customer_name: name, order_date: "2026-01-31" };
  const order = { ...about, order_id: "7007", products: { teapot: { name: "Teapot", url } } };
  await add("api", "orders.massCreate", "--platform", "general", "--orders", JSON.stringify([order]), "--send-mail");
  const product = { sku: "teapot", product_title: "Teapot", product_url: url };
  const texts = { review_content: `Says ${first}`, review_title: "Good", review_score: 1 };
  const review = { ...product, ...texts, display_name: name, email };
  writeFileSync(join(folder, "review.json"), JSON.stringify(review));
  await add("api", "reviews.createNow", "--input", join(folder, "review.json"));
  reviewId = await findReview(folder);
  await add("reviews", "hide", reviewId, "--reason", `asked by ${first}`, "--by", name);
  await add("reviews", "requeue", reviewId, "--by", name);
  const question = { review_content: "Is it for tea?", display_name: name, email, product_id: "teapot" };
  writeFileSync(
    join(folder, "question.json"),
    JSON.stringify({ ...question, product_title: "Teapot", product_url: url }),
  );
  await add("questions", "ask", "--input", join(folder, "question.json"));
  await add("unsubscribers", "add", email, "--type", "2");
  const columns = "order_id,email,customer_name,order_date,product_id,product_name,product_url";
  const rows = [`1,${local}${host},${name},2026-01-02,p,P,${url}`, `2,${email},${name},${name},p,P,${url}`];
  writeFileSync(join(folder, "people.csv"), [columns, ...rows, ""].join("\n"));
  await runBuilt(["orders", "import", join(folder, "people.csv")], { env: { STARPOST_HOME: folder } });
}

beforeAll(async () => {
  stock = await stockHome(addPerson);
});
afterAll(() => stock.remove());

async function call(argv: readonly string[], columns: number, line: Partial<CommandLine> = {}): Promise<BuiltRun> {
  const signaling = line.waits === undefined ? undefined : sendSignalsRepeatedly();
  const open = () => Object.assign(new PassThrough(), { isTTY: true, columns, rows: 40 });
  const streams = { stdout: open(), stderr: open() };
  const texts = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    streams[stream].setEncoding("utf8").on("data", (text: string) => (texts[stream] += text));
  }
  const terminals = { isStdoutTerminal: true, isStderrTerminal: true, columns };
  const io = { ...streams, ...terminals, ...(signaling && { signals: signaling.signals }) };
  try {
    const env = { STARPOST_HOME: stock.folder, CI: "true", NO_COLOR: "1", STARPOST_REDACT: "1" };
    return { ...(await runBuilt(argv, { env, stdin: line.stdin, io })), ...texts };
  } finally {
    signaling?.end();
  }
}

function expectNobody({ stdout, stderr }: BuiltRun): void {
  // A signed link is random text, which may contain any four letters.
  const text = `${stdout}${stderr}`
    .replaceAll(/\n */g, "\n")
    .replaceAll(/v1\.[\w-]+\.[\w\n-]+/g, "")
    .toLowerCase();
  for (const start of starts) expect(text).not.toContain(start);
  if (/person-|redacted-|\[name\]/.test(text)) hidden += 1;
}

const widths = [20, 37, 61, 80, 133];

describe("--redact hides addresses and names, at any width and in any format:", () => {
  test.each(commands.map((command, at) => [command.name, command, at] as const))("%s", async (noun, command, at) => {
    const line = commandLineOf(command);
    if (!line) throw new Error("the command is not listed");
    stock.renew();
    const argv = [...noun.split(" "), ...line.words(stock)];
    const before = hidden;
    expectNobody(await call(argv, 80, line));
    if (hidden === before) return;
    const isReading = /(?:list|show|why|export|get|find|deliveries|history|stats)$/.test(noun);
    for (const width of isReading ? sample(widths, { offset: at, step: 3 }) : [20]) {
      if (!isReading) stock.renew();
      expectNobody(await call(argv, width, line));
    }
    for (const format of sample(["json", "csv"], { offset: at, step: 2 })) {
      if (!isReading) stock.renew();
      expectNobody(await call([...argv, "--format", format], 80, line));
    }
  });

  test.each([
    ["rejected rows", () => ["orders", "import", join(stock.folder, "people.csv")]],
    ["plans", () => ["orders", "plan", join(stock.folder, "people.csv")]],
    ["details of orders", () => ["orders", "list", "--details"]],
    ["details of reviews", () => ["reviews", "list", "--details"]],
    ["the content of emails", () => ["mail", "show", "2"]],
    ["the text of emails", () => ["mail", "show", "2", "--text"]],
    ["the headers of emails", () => ["mail", "show", "2", "--headers"]],
    ["customers", () => ["customers", "show", email]],
    ["exports of customers", () => ["customers", "export", email]],
    ["plans of erasures", () => ["customers", "erase", email, "--plan"]],
    ["queues", () => ["reviews", "moderate"]],
    ["histories of reviews", () => ["reviews", "history", reviewId]],
    ["questions", () => ["questions", "list"]],
    ["explanations", () => ["mail", "why", "7007"]],
    ["raw responses", () => ["api", "GET", "/v1/apps/{app_key}/reviews"]],
    ["storefront data", () => ["api", "reviews.widget", "teapot"]],
    ["searches", () => ["unsubscribers", "find", email]],
    ["unknown values", () => ["groups", "get", email]],
    ["unknown commands", () => [email]],
  ])("%s", async (_what, argv) => {
    stock.renew();
    for (const flags of [[], ["--json"]])
      for (const width of [20, 80]) expectNobody(await call([...argv(), ...flags], width));
  });

  test("shows pseudonyms instead", () => {
    expect(hidden).toBeGreaterThan(40);
  });
});
