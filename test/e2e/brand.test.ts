import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { startMailServer } from "../support/mail-server.ts";
import { takePhoto } from "../support/photos.ts";
import { type Home, Homes, remoteEnv } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

const address = ["Tea & Cups", "1 Harbor Street"];

async function openShop(): Promise<{
  readonly home: Home;
  readonly logo: Buffer;
  readonly brand: Record<string, unknown>;
}> {
  const home = homes.open();
  await home.init();
  const logo = await takePhoto({ type: "png", width: 1_200, height: 150 });
  const file = join(home.folder, "logo.png");
  writeFileSync(file, logo);
  const flags = ["--logo", file, "--accent-color", "#7A1F5C", "--postal-address", address.join("\n")];
  flags.push("--sender-name", "Tea & Cups", "--reply-to", "help@shop.example");
  const set = await home.json<{ brand: Record<string, unknown> }>(["account", "brand", "set", ...flags]);
  expect([set.exitCode, set.data.brand]).toEqual([
    0,
    expect.objectContaining({ accent_color: "#7a1f5c", logo_width: 1_200, logo_height: 150 }),
  ]);
  return { home, logo, brand: set.data.brand };
}

describe("account brand", () => {
  test("refuses a color that is hard to read, and a file that is not an image", async () => {
    const home = homes.open();
    await home.init();
    const color = await home.run(["account", "brand", "set", "--accent-color", "#ffcc00"]);
    expect([color.exitCode, color.stderr]).toEqual([1, expect.stringContaining("#907300")]);
    const file = await home.run(["account", "brand", "set", "--logo", "package.json"]);
    expect([file.exitCode, file.stderr]).toEqual([1, expect.stringContaining("logo")]);
    expect((await home.run(["account", "brand", "set", "--logo", "none.png"])).exitCode).toBe(2);
    expect((await home.run(["account", "brand", "set"])).exitCode).toBe(2);
  });

  test("shows and changes the brand of a service, whose pages and logo anyone can get", async () => {
    const { home, logo, brand } = await openShop();
    const server = await home.serve();
    onTestFinished(async () => void (await server.stop()));
    const remote = { env: remoteEnv(server) };
    const shown = await home.json<{ brand: Record<string, unknown> }>(["account", "brand", "show"], remote);
    expect(shown.data.brand).toMatchObject({ ...brand, logo_url: expect.stringContaining(server.url) as string });
    const response = await fetch(String(shown.data.brand["logo_url"]));
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "image/png",
      "cache-control": expect.stringContaining("max-age=3600") as string,
      "content-security-policy": "default-src 'none'",
    });
    expect(Buffer.from(await response.arrayBuffer())).toEqual(logo);
    const readPage = async () => {
      const got = await fetch(`${server.url}/starpost/v1/pages/${server.app_key}/products`);
      const html = await got.text();
      const hash = createHash("sha256")
        .update(/<style>(.*?)<\/style>/s.exec(html)?.[1] ?? "")
        .digest("base64");
      expect(got.headers.get("content-security-policy")).toContain(`'sha256-${hash}'`);
      return html;
    };
    const page = await readPage();
    expect(page).toContain("#7a1f5c");
    expect(page).toMatch(/<img class="logo" src="[^"]+" width="240" height="30" alt="Tea &amp; Cups">/);
    const reset = ["account", "brand", "reset", "--field", "logo", "--field", "accent-color", "--yes"];
    expect((await home.run(reset, remote)).exitCode).toBe(0);
    expect(await readPage()).not.toMatch(/#7a1f5c|<img/);
    expect((await fetch(String(shown.data.brand["logo_url"]))).status).toBe(404);
  });

  test("is in emails and their previews; doctor asks for a postal address only if emails are sent", async () => {
    const { home } = await openShop();
    const smtp = await startMailServer();
    onTestFinished(() => smtp.close());
    const env = {
      STARPOST_PUBLIC_URL: "https://reviews.example",
      STARPOST_SMTP_HOST: smtp.host,
      STARPOST_SMTP_PORT: String(smtp.port),
      STARPOST_SMTP_TLS: "none",
      STARPOST_MAIL_FROM: "Machine <shop@shop.example>",
    };
    const warns = async () => {
      const { data } = await home.json<{ checks: { name: string; status: string }[] }>(["doctor"]);
      return data.checks.filter(({ name }) => name === "postal-address").map(({ status }) => status);
    };
    expect(await warns()).toEqual([]);
    const file = join(home.folder, "map.html");
    expect((await home.run(["mail", "templates", "preview", "map", "--out", file])).exitCode).toBe(0);
    for (const line of address) expect(readFileSync(file, "utf8")).toContain(line.replace("&", "&amp;"));
    for (const args of [
      ["mail", "test", "--to", "ann@mail.example"],
      ["mail", "run", "--once"],
    ]) {
      expect((await home.run(args, { env })).exitCode).toBe(0);
    }
    const [mail] = smtp.received;
    expect(mail?.parsed).toMatchObject({
      from: { name: "Tea & Cups", address: "shop@shop.example" },
      replyTo: [{ name: "Tea & Cups", address: "help@shop.example" }],
    });
    for (const line of address) expect(mail?.parsed.text).toContain(line);
    expect(mail?.parsed.html).toMatch(/#7a1f5c/);
    expect(mail?.parsed.html).toContain("/brand/logo?v=");
    expect(await warns()).toEqual([]);
    await home.run(["account", "brand", "reset", "--field", "postal-address", "--yes"]);
    expect(await warns()).toEqual(["warning"]);
  });
});
