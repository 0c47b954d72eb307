import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { findFaults } from "../support/html.ts";
import { type Home, Homes } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

const ownText = "{% for p in products %}{{ p.name }}: {{ p.review_url }}\n{% endfor %}{{ unsubscribe_url }}";
const ownFile = `=== subject ===
Well, {{ customer.name }}?

=== html ===
<p>{{ customer.name }}</p>
<p>{{ unsubscribe_url }}</p>

=== text ===
${ownText}
`;

interface Template {
  readonly category: string;
  readonly is_own: boolean;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const template = (home: Home, ...args: string[]) => home.run(["mail", "templates", ...args]);

/** Creates an editor that applies a shell command to the file. */
function createEditor(home: Home, script: string): string {
  const path = join(home.folder, "editor.sh");
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o700);
  return path;
}

describe("mail templates", () => {
  it("prints a file that can be read back unchanged", async () => {
    const home = homes.open();
    await home.init();
    const printed = await template(home, "edit", "map", "--print");
    expect(printed.exitCode).toBe(0);
    expect(printed.stdout).toMatch(/\n=== subject ===\n.*How do you like/);
    const before = await home.json<Template>(["mail", "templates", "edit", "map", "--print"]);
    const saved = await home.run(["mail", "templates", "edit", "map", "--file", "-", "--json"], {
      input: printed.stdout,
    });
    expect(saved.exitCode, saved.stderr).toBe(0);
    expect(JSON.parse(saved.stdout)).toMatchObject({
      ...before.data,
      is_own: true,
      updated_at: expect.any(String) as string,
    });
    expect((await template(home, "edit", "map", "--print")).stdout).toBe(printed.stdout);
  });

  it("stores the parts of a file in any order, lists them, and deletes them", async () => {
    const home = homes.open();
    await home.init();
    writeFileSync(join(home.folder, "own.liquid"), `\uFEFF${ownFile.replaceAll("\n", "\r\n")}`);
    const saved = await home.json<Template>([
      "mail",
      "templates",
      "edit",
      "map",
      "--file",
      join(home.folder, "own.liquid"),
    ]);
    expect(saved.data).toMatchObject({ subject: "Well, {{ customer.name }}?", text: `${ownText}\n`, is_own: true });
    const list = await home.json<Template[]>(["mail", "templates", "list"]);
    expect(list.data.filter(({ is_own }) => is_own).map(({ category }) => category)).toEqual(["map"]);
    expect((await template(home, "list")).stdout).toMatch(/^map +custom +\d{4}-/m);
    const refused = await template(home, "reset", "map");
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining("map")]);
    expect((await home.json<Template>(["mail", "templates", "reset", "map", "--yes"])).data.is_own).toBe(false);
    expect((await template(home, "reset", "map")).exitCode).toBe(0);
  });

  it.each([
    [ownFile.replace("p.name", "p.nmae"), /own\.liquid:9:27: .*p\.nmae.*\(text\)/],
    [ownFile.replace("<p>{{ cu", "<p class={{ cu"), /own\.liquid:5:10: /],
    [ownFile.replace("=== text ===", "=== texts ==="), /own\.liquid: .*=== text ===/],
    [`${ownFile}\n=== text ===`, /own\.liquid:12: .*=== text ===/],
    [ownFile.replace("<p>{{ unsubscribe_url }}</p>", ""), /own\.liquid: html: /],
  ])("reports the line and column of an error, and stores nothing", async (content, expected) => {
    const home = homes.open();
    await home.init();
    const path = join(home.folder, "own.liquid");
    writeFileSync(path, content);
    const refused = await template(home, "edit", "map", "--file", path);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toMatch(expected);
    expect((await home.json<Template[]>(["mail", "templates", "list"])).data.every(({ is_own }) => !is_own)).toBe(true);
  });

  it("opens the editor of VISUAL, with its arguments", async () => {
    const home = homes.open();
    await home.init();
    writeFileSync(join(home.folder, "own.liquid"), ownFile);
    const editor = createEditor(home, `[ "$1" = --wait ] && cp ${join(home.folder, "own.liquid")} "$2"; echo noise`);
    const saved = await home.json<Template>(["mail", "templates", "edit", "map"], {
      env: { VISUAL: `${editor} --wait`, EDITOR: "false" },
    });
    expect(saved.data, saved.stderr).toMatchObject({ subject: "Well, {{ customer.name }}?", is_own: true });
    const same = await home.run(["mail", "templates", "edit", "map"], { env: { EDITOR: "true" } });
    expect([same.exitCode, same.stderr]).toEqual([0, expect.stringContaining("No changes")]);
    const builtIn = await home.json<Template>(["mail", "templates", "edit", "map", "--built-in"], {
      env: { EDITOR: createEditor(home, `sed -i '0,/How do you like/s/.*How do you like.*/Changed/' "$1"`) },
    });
    expect(builtIn.data).toMatchObject({
      subject: "Changed",
      html: expect.stringContaining('{% layout "frame" %}') as string,
    });
  });

  it("keeps the edited file if it is invalid", async () => {
    const home = homes.open({ TMPDIR: homes.open().folder });
    await home.init();
    const EDITOR = createEditor(home, `sed -i 's/product.name/product.nmae/' "$1"`);
    const refused = await home.run(["mail", "templates", "edit", "map"], { env: { EDITOR } });
    expect(refused.exitCode).toBe(2);
    const path = /Your text is in (\S+)\. /.exec(refused.stderr)?.[1] ?? "";
    expect(refused.stderr).toContain(`${path}:14:4: `);
    writeFileSync(path, readFileSync(path, "utf8").replaceAll("nmae", "name"));
    expect((await template(home, "edit", "map", "--file", path)).exitCode).toBe(0);
  });

  it("leaves no temporary files behind once a template is stored", async () => {
    const home = homes.open({ TMPDIR: homes.open().folder });
    await home.init();
    const EDITOR = createEditor(home, `sed -i '0,/How do you like/s/.*How do you like.*/Changed/' "$1"`);
    expect((await home.run(["mail", "templates", "edit", "map"], { env: { EDITOR } })).exitCode).toBe(0);
    expect(readdirSync(home.env["TMPDIR"] ?? tmpdir()).filter((name) => name.startsWith("starpost-template"))).toEqual(
      [],
    );
  });

  it.each([
    [["edit", "mapp", "--print"], "mapp"],
    [["edit", "map"], "EDITOR"],
    [["edit", "map", "--file", "x", "--print"], "--file"],
    [["edit", "map", "--file", "/nowhere/x"], "/nowhere/x"],
    [["preview", "map", "--file", "-"], "=== subject ==="],
  ])("rejects %j", async (args, expected) => {
    const home = homes.open();
    await home.init();
    const refused = await home.run(["mail", "templates", ...args], { input: "" });
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain(expected);
  });

  it("fails if the editor fails", async () => {
    const home = homes.open({ EDITOR: "false" });
    await home.init();
    const failed = await home.run(["mail", "templates", "edit", "map"]);
    expect([failed.exitCode, failed.stderr]).toEqual([1, expect.stringContaining("false")]);
  });
});

describe("mail templates preview", () => {
  it("writes a page that shows an email and runs no scripts from it", async () => {
    const home = homes.open();
    await home.init();
    const out = join(home.folder, "map.html");
    const shown = await home.json<{ preview_file: string; subject: string }>([
      "mail",
      "templates",
      "preview",
      "map",
      "--out",
      out,
    ]);
    expect(shown.data).toEqual({
      category: "map",
      subject: "How do you like your order from Tea & Cups?",
      preview_file: out,
    });
    const page = readFileSync(out, "utf8");
    expect(page).toContain(`http-equiv="Content-Security-Policy" content="default-src 'none'`);
    expect(page).toContain('sandbox="" srcdoc="&lt;!DOCTYPE html&gt;');
    expect(page).toContain("<strong><bdi>How do you like your order from Tea &amp; Cups?");
    expect(await findFaults(page)).toEqual([]);
  });

  it("shows an unsaved template, replaces its own pages, and prompts before replacing other files", async () => {
    const home = homes.open();
    await home.init();
    const out = join(home.folder, "map.html");
    writeFileSync(join(home.folder, "own.liquid"), ownFile);
    const args = ["preview", "map", "--out", out, "--file", join(home.folder, "own.liquid")];
    expect((await template(home, ...args)).exitCode).toBe(0);
    expect(readFileSync(out, "utf8")).toContain("Well, Ana Müller?");
    expect((await template(home, ...args)).exitCode).toBe(0);
    writeFileSync(out, "mine");
    expect((await template(home, ...args)).stderr).toContain("overwrites");
    expect(readFileSync(out, "utf8")).toBe("mine");
    expect((await template(home, ...args, "--yes")).exitCode).toBe(0);
    expect(readFileSync(out, "utf8")).not.toBe("mine");
    expect(existsSync(join(home.folder, "mail-map.html"))).toBe(false);
  });
});
