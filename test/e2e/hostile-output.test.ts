import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BuiltRun, loadCommands, runBuilt, sendSignalsRepeatedly } from "../support/built-program.ts";
import { terminalControls } from "../support/hostile-texts.ts";
import { sample } from "../support/suite-size.ts";
import { type CommandLine, commandLineOf, type HomeCall, stockHome } from "../support/command-lines.ts";

/** Sets the title, clears the screen, colors, returns to the start of the line, forges lines, and reverses text. */
const hostile =
  "pwn\u001B]0;title\u0007\u001B[31m\u001B[2J\u009B31m\u202Egnp\u2066\u200B\rForged.\nForged.\u2028Forged.\u007F";

/** What the terminal shows: anything that a command prints only there is printed, too. */
const atTerminal = () => {
  const stream = () => Object.assign(new PassThrough(), { isTTY: true, columns: 100, rows: 40 });
  return { stdout: stream(), stderr: stream(), isStdoutTerminal: true, isStderrTerminal: true, columns: 100 };
};

const commands = await loadCommands();
const fileName = `orders ${hostile}.csv`;
let stock: Awaited<ReturnType<typeof stockHome>>;
let shown = 0;

async function addHostileRecords(add: HomeCall, folder: string): Promise<void> {
  const url = "https://shop.example/x";
  await add("api", "products.massCreate", "--products", JSON.stringify({ x: { name: hostile, url } }));
  const order = {
    order_id: `1${hostile}`,
    email: "h@mail.example",
    customer_name: hostile,
    order_date: "2026-01-31",
    products: { teapot: { name: hostile, url } },
  };
  await add("api", "orders.massCreate", "--platform", "general", "--orders", JSON.stringify([order]), "--send-mail");
  await add("groups", "create", hostile);
  const review = {
    sku: "teapot",
    product_title: hostile,
    product_url: url,
    display_name: hostile,
    email: "h@mail.example",
  };
  const texts = { review_content: hostile, review_title: hostile, review_score: 1 };
  writeFileSync(join(folder, "review.json"), JSON.stringify({ ...review, ...texts }));
  await add("api", "reviews.createNow", "--input", join(folder, "review.json"));
  await add("reviews", "comment", "1", "--content", hostile);
  const columns = "order_id,email,customer_name,order_date,product_id,product_name,product_url";
  writeFileSync(join(folder, fileName), `${columns}\n2,"wrong${hostile}",A,2026-01-02,p,P,${url}\n`);
  await runBuilt(["orders", "import", join(folder, fileName)], { env: { STARPOST_HOME: folder } });
}

beforeAll(async () => {
  stock = await stockHome(addHostileRecords);
});
afterAll(() => stock.remove());

async function call(argv: readonly string[], { stdin, waits }: Partial<CommandLine> = {}): Promise<BuiltRun> {
  const signaling = waits === undefined ? undefined : sendSignalsRepeatedly();
  const io = { ...atTerminal(), ...(signaling && { signals: signaling.signals }) };
  const chunks: Record<"stdout" | "stderr", string> = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    io[name].setEncoding("utf8").on("data", (text: string) => (chunks[name] += text));
  }
  try {
    const env = { STARPOST_HOME: stock.folder, CI: "true", NO_COLOR: "1" };
    return { ...(await runBuilt(argv, { env, stdin, io })), ...chunks };
  } finally {
    signaling?.end();
  }
}

function expectHarmless({ stdout, stderr }: BuiltRun): void {
  for (const text of [stdout, stderr]) {
    expect(text).not.toMatch(terminalControls);
    if (text.includes("pwn")) shown += 1;
  }
}

describe("no command sends control characters of data to a terminal:", () => {
  test.each(commands.map((command, at) => [command.name, command, at] as const))("%s", async (name, command, at) => {
    const line = commandLineOf(command);
    if (!line) throw new Error("the command is not listed");
    for (const flags of [[], ...sample([["--json"], ["--format", "csv"]], { offset: at, step: 2 })]) {
      stock.renew();
      const ran = await call([...name.split(" "), ...line.words(stock), ...flags], line);
      expectHarmless(ran);
      // Nothing in the data starts a line of its own.
      expect(`${ran.stdout}${ran.stderr}`).not.toMatch(/^Forged\./m);
      // A command that prints no data of the shop prints none in other formats.
      if (!`${ran.stdout}${ran.stderr}`.includes("pwn")) break;
    }
  });

  test.each([
    ["file names", () => ["orders", "import", join(stock.folder, fileName)]],
    ["missing files", () => ["orders", "import", hostile]],
    ["names of profiles", () => ["auth", "status", "--profile", hostile]],
    ["values of flags", () => ["orders", "list", "--limit", hostile]],
    ["names of commands", () => [hostile]],
    ["names of groups", () => ["groups", "get", hostile]],
    ["rejected rows", () => ["orders", "plan", join(stock.folder, fileName)]],
    ["columns", () => ["orders", "map", join(stock.folder, fileName), "--map", `email=${hostile}`]],
    ["identifiers", () => ["mail", "why", `1${hostile}`]],
    ["raw responses", () => ["api", "GET", "/v1/apps/{app_key}/reviews"]],
  ])("%s", async (_what, argv) => {
    stock.renew();
    for (const flags of [[], ["--json"]]) {
      const ran = await call([...argv(), ...flags]);
      expectHarmless(ran);
      // Nothing in the data starts a line of its own.
      expect(`${ran.stdout}${ran.stderr}`).not.toMatch(/^Forged\./m);
    }
  });

  test("shows the other characters of such data", () => {
    expect(shown).toBeGreaterThan(20);
  });
});

test("data for a file or pipe is not changed", async () => {
  const env = { STARPOST_HOME: stock.folder };
  const json = await runBuilt(["reviews", "list", "--json"], { env });
  const reviews = JSON.parse(json.stdout) as { content: string }[];
  expect(reviews.map(({ content }) => content)).toContain(hostile);
  const csv = await runBuilt(["reviews", "list", "--format", "csv", "--columns", "content"], { env });
  expect(csv.stdout).toContain(`"${hostile}"`);
});
