import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";
import { manualPages } from "../../support/manual.ts";

const root = resolve(".");

interface Link {
  readonly page: string;
  readonly text: string;
  /** Relative to the repository root. */
  readonly path: string;
  readonly anchor: string;
}

function linksOf(page: string): Link[] {
  const prose = readPage(page)
    .replaceAll(/^```.*?^```/gms, "")
    .replaceAll(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, text = ""]) => text)
    .filter((text) => !/^[a-z]+:/.test(text))
    .map((text) => {
      const [target = "", anchor = ""] = text.split("#");
      const path = target === "" ? page : relative(root, resolve(root, dirname(page), target));
      return { page, text, path, anchor };
    });
}

function readPage(page: string): string {
  return readFileSync(join(root, page), "utf8");
}

/** Lists the anchors of the headings. */
function anchorsOf(page: string): string[] {
  return [...readPage(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test("every link of the documentation resolves", () => {
  const links = manualPages.flatMap(linksOf);
  expect(links.length).toBeGreaterThan(40);
  const broken = links.filter(({ path }) => !existsSync(join(root, path)));
  expect(broken.map(({ page, text }) => `${page}: ${text}`)).toEqual([]);
  const lost = links.filter(
    ({ path, anchor }) => anchor !== "" && path.endsWith(".md") && !anchorsOf(path).includes(anchor),
  );
  expect(lost.map(({ page, text }) => `${page}: ${text}`)).toEqual([]);
});

test("every page is linked, starting at the README", () => {
  const reached = new Set(["README.md"]);
  for (const page of reached) {
    for (const { path } of linksOf(page)) {
      if (path.endsWith(".md") && statSync(join(root, path)).isFile()) reached.add(path);
    }
  }
  expect(manualPages.filter((page) => !reached.has(page))).toEqual([]);
});

test("the README links the page of every command", () => {
  const linked = new Set(linksOf("README.md").map(({ path }) => path));
  const isCommandPage = (page: string) => page.startsWith("docs/reference/commands/") && !page.endsWith("README.md");
  expect(manualPages.filter((page) => isCommandPage(page) && !linked.has(page))).toEqual([]);
});
