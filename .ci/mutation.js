// Mutation tests of the code whose faults would lose rows; see docs/development/slow-tests.md.
// usage: node .ci/mutation.js [--all] [--seed <n>] [--share <0 to 1>] [--concurrency <n>] [area…]
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Stryker } from "@stryker-mutator/core";

/** Each area is tested by the unit tests of its own folder and of the code that drives it. */
const areas = {
  check: { sources: ["import/check"], tests: ["import/check", "import/recorded", "records"] },
  csv: { sources: ["import/csv"], tests: ["import/csv", "import/recorded"] },
  layouts: {
    sources: ["import/layouts"],
    tests: ["import/layouts", "import/mapping", "import/recorded", "records/reviews"],
  },
  mapping: { sources: ["import/mapping"], tests: ["import/mapping", "import/recorded"] },
  run: {
    sources: ["import/run", "import/report"],
    tests: ["import/run", "import/report", "import/pipeline", "import/recorded"],
  },
  send: { sources: ["import/send"], tests: ["import/send", "import/pipeline"] },
  source: { sources: ["import/source"], tests: ["import/source", "import/recorded"] },
  import: {
    sources: ["import", "import/plan", "import/undo", "import/verify"],
    tests: ["import/plan", "import/undo", "import/verify", "import/pipeline"],
  },
  client: { sources: ["client"], tests: ["client"] },
  kernel: {
    sources: ["engine/kernel"],
    tests: [
      "engine",
      ..."email-events idempotency images links tokens tracking webhook-deliveries"
        .split(" ")
        .map((name) => `conformance/${name}`),
    ],
  },
  storage: { sources: ["storage", "storage/*"], tests: ["storage"] },
};

/** A sample consists of windows of this many lines. */
const windowLines = 8;
const requiredScore = 80;

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: "boolean" },
    seed: { type: "string", default: "1" },
    share: { type: "string", default: "0.04" },
    concurrency: { type: "string", default: String(availableParallelism()) },
  },
});

const random = createRandom(Number(flags.seed));
const results = [];
for (const [name, { sources, tests }] of Object.entries(areas)) {
  const files = sources.flatMap(listSources);
  // Drawn for every area, so that a run of one area tests the same lines as a run of all.
  const lines = flags.all ? files : files.flatMap(drawLines);
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  process.env.STARPOST_MUTATION_TESTS = tests.join(",");
  const mutants = await new Stryker(optionsOf(name, lines)).runMutationTest();
  results.push(summarize(name, mutants));
}
report(results);

function listSources(folder) {
  if (folder.endsWith("/*")) {
    return readdirSync(join("src", folder.slice(0, -2)), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap((entry) => listSources(folder.replace("*", entry.name)));
  }
  const isFlat = Object.values(areas).some(({ sources }) => sources.some((other) => other.startsWith(`${folder}/`)));
  return readdirSync(join("src", folder), { recursive: !isFlat, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => `src/${folder}/${path}`)
    .toSorted();
}

function drawLines(file) {
  const length = readFileSync(file, "utf8").split("\n").length;
  return Array.from({ length: Math.ceil(length / windowLines) }, (_, index) => index * windowLines + 1)
    .filter(() => random() < Number(flags.share))
    .map((first) => `${file}:${first}-${first + windowLines - 1}`);
}

/** Generates pseudorandom numbers from 0 to 1: "mulberry32". */
function createRandom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function optionsOf(name, mutate) {
  return {
    mutate,
    plugins: ["@stryker-mutator/vitest-runner", "./.ci/stryker-sentences.js"],
    ignorers: ["sentences"],
    testRunner: "vitest",
    // Coverage shows which tests reach a mutant, so the import graph is not needed.
    vitest: { configFile: "vitest.mutation.config.ts", related: false },
    // Stryker would rewrite the configuration with functions that TypeScript 7 does not have.
    tsconfigFile: "none",
    ignoreStatic: true,
    timeoutMS: 10_000,
    reporters: ["progress-append-only", "clear-text", "html"],
    clearTextReporter: { reportTests: false, reportScoreTable: false, allowColor: false },
    htmlReporter: { fileName: `node_modules/.cache/stryker/${name}.html` },
    concurrency: Number(flags.concurrency),
    allowEmpty: true,
  };
}

function summarize(area, mutants) {
  const count = (...states) => mutants.filter(({ status }) => states.includes(status)).length;
  const [detected, timeouts] = [count("Killed", "Timeout"), count("Timeout")];
  return withScore({ area, detected, timeouts, survived: count("Survived"), uncovered: count("NoCoverage") });
}

function withScore(row) {
  const score = (100 * row.detected) / (row.detected + row.survived + row.uncovered || 1);
  return { ...row, score: Number(score.toFixed(1)) };
}

function report(rows) {
  const sum = (name) => rows.reduce((total, row) => total + row[name], 0);
  const columns = ["detected", "timeouts", "survived", "uncovered"];
  const total = withScore({ area: "total", ...Object.fromEntries(columns.map((name) => [name, sum(name)])) });
  console.table([...rows, total]);
  if (total.score < requiredScore) process.exitCode = 1;
}
