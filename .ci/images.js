// Renders docs/images: the sample shop as WebP and a run report as PNG (need Chromium), and terminal sessions as SVG (needs
// tmux). All come from real runs.
import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { chromium } from "playwright-core";

/* oxlint-disable no-control-regex -- this script parses terminal output */

const run = promisify(execFile);
const root = join(import.meta.dirname, "..");
const images = join(root, "docs/images");
const columns = 88;

const palette = { 1: "#ff7b72", 2: "#7ee787", 3: "#e3b341", 4: "#79c0ff", 5: "#d2a8ff", 6: "#a5d6ff" };

const escapeXml = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** The style after an SGR code (bold, dim, colors). */
function applySgr(style, code) {
  if (code === 0) return {};
  if (code === 22) return { fill: style.fill };
  if (code === 1) return { fill: style.fill, "font-weight": "bold" };
  if (code === 2) return { fill: style.fill, opacity: "0.65" };
  return Object.assign(style, { fill: code === 39 ? undefined : palette[code % 10] });
}

/** Converts a line with SGR sequences to SVG text spans. */
function toSpans(line) {
  let style = {};
  let spans = "";
  for (const part of line.split(/(\u001B\[[\d;]*m)/)) {
    const codes = /^\u001B\[([\d;]*)m$/.exec(part)?.[1];
    if (codes !== undefined) style = codes.split(";").map(Number).reduce(applySgr, style);
    else if (part !== "") {
      const attributes = Object.entries(style).filter(([, value]) => value !== undefined);
      spans += `<tspan${attributes.map(([name, value]) => ` ${name}="${value}"`).join("")}>${escapeXml(part)}</tspan>`;
    }
  }
  return spans;
}

/** Draws a terminal window with the given lines. */
function drawTerminal(lines) {
  const [charWidth, lineHeight, padding] = [8.43, 20, 20];
  const width = Math.ceil(columns * charWidth + 2 * padding);
  const height = (lines.length + 1) * lineHeight + 2 * padding;
  const texts = lines.map(
    (line, index) => `<text x="${padding}" y="${(index + 2) * lineHeight + padding}">${toSpans(line)}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="#e6edf3">
<style>text { white-space: pre }</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<circle cx="20" cy="18" r="6" fill="#ff5f57"/><circle cx="40" cy="18" r="6" fill="#febc2e"/><circle cx="60" cy="18" r="6" fill="#28c840"/>
${texts.join("\n")}
</svg>
`;
}

/** Runs starpost in a pseudo-terminal (script, from util-linux) and returns its output lines. */
function runInTerminal(command, { cwd, env }) {
  const shell = `stty cols ${columns} rows 40; ${command}`;
  const output = execFileSync("script", ["-qec", shell, "/dev/null"], {
    cwd,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  // Progress frames are drawn between "begin" and "end synchronized update"; only messages remain visible.
  return output
    .replaceAll(/\u001B\[\?2026h.*?\u001B\[\?2026l/gs, "")
    .replaceAll(/\u001B\[(?:\?\d+[hl]|\d*[A-HJK])/g, "")
    .replaceAll("\r", "")
    .split("\n");
}

/** Captures the moderation queue in tmux, with its colors. */
async function captureQueue({ cwd, env }) {
  const tmux = (...args) =>
    execFileSync("tmux", ["-S", join(cwd, "tmux"), "-f", "/dev/null", ...args], { env, encoding: "utf8" });
  const review = ["--sku", "teapot", "--product-title", "Teapot", "--product-url", "https://shop.example/teapot"];
  const author = ["--display-name", "Ann Lee", "--email", "ann@mail.example", "--review-title", "A good pot"];
  const content = [
    "--review-content",
    "It pours well. See https://spam.example for the best bonus.",
    "--review-score",
    "2",
  ];
  for (const id of ["1", "2"]) {
    await run("starpost", ["reviews", "create", ...review, ...author, ...content], { cwd, env });
    await run("starpost", ["reviews", "requeue", id, "--reason", "the title contains a link"], { cwd, env });
  }
  tmux("new-session", "-d", "-x", "80", "-y", "24", "starpost reviews moderate --by Bo");
  try {
    let lines = [];
    for (let tries = 0; tries < 60 && !lines.some((line) => line.includes("q quit")); tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      lines = tmux("capture-pane", "-e", "-p").trimEnd().split("\n");
    }
    return lines;
  } finally {
    tmux("kill-server");
  }
}

/** Takes a picture of a product page of the sample shop. */
async function captureDemo(browser, { cwd, env }) {
  const demo = spawn("starpost", ["demo"], { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  try {
    let output = "";
    for await (const chunk of demo.stdout.setEncoding("utf8")) {
      output += chunk;
      if (output.includes("Ctrl-C")) break;
    }
    const page = await browser.newPage({ viewport: { width: 1_280, height: 1_480 } });
    await page.goto(`${/http:\S+/.exec(output)[0]}/products/teapot`, { waitUntil: "networkidle" });
    const cdp = await page.context().newCDPSession(page);
    const { data } = await cdp.send("Page.captureScreenshot", { format: "webp", quality: 75 });
    await page.close();
    return Buffer.from(data, "base64");
  } finally {
    demo.kill("SIGINT");
    await once(demo, "exit");
  }
}

const folder = mkdtempSync(join(tmpdir(), "starpost-images-"));
mkdirSync(join(folder, "bin"));
writeFileSync(join(folder, "bin/starpost"), `#!/bin/sh\nexec "${process.execPath}" "${root}/bin/starpost.js" "$@"\n`, {
  mode: 0o755,
});
const rows = Array.from({ length: 400 }, (_, index) => {
  const email = index % 97 === 41 ? "bo.mail.example" : `customer${index}@mail.example`;
  const url = index % 180 === 77 ? "teapot" : "https://shop.example/teapot";
  return `${1001 + index},${email},Customer ${index},2024-01-${String((index % 28) + 1).padStart(2, "0")},teapot,Teapot,${url}`;
});
const header = "order_id,email,customer_name,order_date,product_id,product_name,product_url";
writeFileSync(join(folder, "orders.csv"), `${[header, ...rows].join("\n")}\n`);
const { CI: _ci, NO_COLOR: _noColor, ...inherited } = process.env;
const env = {
  ...inherited,
  PATH: `${folder}/bin:${process.env.PATH}`,
  STARPOST_HOME: join(folder, "home"),
  TERM: "xterm-256color",
};
try {
  mkdirSync(images, { recursive: true });
  writeFileSync(join(images, "moderation.svg"), drawTerminal(await captureQueue({ cwd: folder, env })));
  const commands = ["starpost orders import orders.csv; true", "starpost imports list"];
  const lines = commands.flatMap((command) => {
    const output = runInTerminal(command, { cwd: folder, env }).join("\n").trimEnd();
    const prompt = `\u001B[32m$\u001B[39m \u001B[1m${command.replace("; true", "")}\u001B[22m`;
    return `${prompt}\n${output}\n`.split("\n");
  });
  const shown = lines.map((line) => line.replaceAll(join(folder, "home"), "~/.starpost").replaceAll(folder, "~"));
  writeFileSync(join(images, "import.svg"), drawTerminal(shown.slice(0, -1)));
  await run(
    "sh",
    ["-c", "starpost imports report $(starpost imports list --json | jq -r '.[0].import_id') --out report.html"],
    {
      cwd: folder,
      env,
    },
  );
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  try {
    writeFileSync(join(images, "demo.webp"), await captureDemo(browser, { cwd: folder, env }));
    const page = await browser.newPage({ viewport: { width: 960, height: 900 } });
    await page.setContent(
      readFileSync(join(folder, "report.html"), "utf8").replaceAll(join(folder, "home"), "/home/ann/.starpost"),
    );
    await page.screenshot({ path: join(images, "run-report.png") });
  } finally {
    await browser.close();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
