import { expect, it } from "vitest";
import { brandFieldNames, builtInSettings, logoLimits } from "../../src/contract/index.ts";
import { describeBackends } from "../support/backends.ts";
import { takePhoto, tinyPng } from "../support/photos.ts";

const noLogo = { logo_url: null, logo_width: null, logo_height: null };

/** A value of each field that is not the built-in one. */
const own = {
  accent_color: "#7a1f5c",
  star_color: "#b35900",
  font: "Source Sans 3",
  radius: 0,
  color_scheme: "light",
  language: "de",
  sender_name: "Tea & Cups",
  reply_to: "help@shop.example",
  postal_address: "Tea & Cups\n1 Harbor Street\n20457 Hamburg",
  privacy_url: "https://shop.example/privacy",
  terms_url: "https://shop.example/terms",
  consent_text: "We publish your review.",
} as const;

describeBackends("the brand", (harness) => {
  it("is the built-in design until it is set, and again after a reset", async () => {
    const { service } = await harness().newAccount();
    const { service: another } = await harness().newAccount();
    const builtIn = { brand: { ...noLogo, ...builtInSettings } };
    expect(await service.brand.show({})).toEqual(builtIn);
    const { brand } = await service.brand.set({ ...own, logo: tinyPng });
    expect(brand).toMatchObject({ ...own, logo_width: 1, logo_height: 1 });
    expect(await service.brand.show({})).toEqual({ brand });
    expect(Object.keys(own).toSorted()).toEqual(brandFieldNames.filter((name) => name !== "logo").toSorted());
    expect(await another.brand.show({})).toEqual(builtIn);
    expect(await service.brand.reset({})).toEqual(builtIn);
    expect(await service.brand.show({})).toEqual(builtIn);
    await expect(service.brand.logo({})).rejects.toMatchObject({ kind: "recordNotFound" });
  });

  it("keeps what a change or a reset does not name", async () => {
    const { service } = await harness().newAccount();
    await service.brand.set({ ...own, logo: tinyPng });
    expect(await service.brand.set({ radius: 12, accent_color: "#0A5" }).catch(String)).toContain("accent_color");
    expect((await service.brand.set({ radius: 12, accent_color: "#063" })).brand).toMatchObject({
      ...own,
      radius: 12,
      accent_color: "#006633",
      logo_width: 1,
    });
    const { brand } = await service.brand.reset({ fields: ["logo", "sender_name"] });
    expect(brand).toMatchObject({ ...noLogo, sender_name: null, reply_to: own.reply_to, radius: 12 });
  });

  it("refuses colors that are hard to read, with the nearest that is not", async () => {
    const { service } = await harness().newAccount();
    await expect(service.brand.set({ accent_color: "#ffcc00" })).rejects.toMatchObject({
      kind: "invalidParams",
      message: expect.stringMatching(/^accent_color .*#ffcc00.* 1\.51:1 .*#ffffff.* 4\.5:1.*#907300/) as string,
    });
    await service.brand.set({ accent_color: "#907300" });
    await expect(service.brand.set({ star_color: "#ffcc00" })).rejects.toMatchObject({ kind: "invalidParams" });
    await service.brand.set({ accent_color: "#ffcc00", star_color: "#ffcc00", color_scheme: "dark" });
    await expect(service.brand.reset({ fields: ["color_scheme"] })).rejects.toMatchObject({ kind: "invalidParams" });
    expect((await service.brand.show({})).brand).toMatchObject({ accent_color: "#ffcc00", color_scheme: "dark" });
  });

  it.each([
    ["accent_color", "red"],
    ["accent_color", "#0b4fb380"],
    ["font", "Arial'; }"],
    ["radius", 25],
    ["color_scheme", "sepia"],
    ["language", "tlh"],
    ["sender_name", "Tea\r\nBcc: all@shop.example"],
    ["sender_name", " "],
    ["reply_to", "help"],
    ["postal_address", "x".repeat(301)],
    ["privacy_url", "javascript:alert(1)"],
    ["terms_url", "/terms"],
    ["consent_text", ""],
    ["logo", "not base64"],
    ["logo", Buffer.from("<svg></svg>").toString("base64")],
    ["logo", Buffer.from(tinyPng, "base64").subarray(0, 40).toString("base64")],
    ["logo", Buffer.alloc(logoLimits.bytes + 1).toString("base64")],
  ])("refuses the %s %j", async (field, value) => {
    const { service } = await harness().newAccount();
    await expect(service.brand.set({ [field]: value })).rejects.toMatchObject({
      kind: "invalidParams",
      message: expect.stringMatching(new RegExp(`^(?:Missing )?${field}\\b`)) as string,
    });
  });

  it("needs a field", async () => {
    const { service } = await harness().newAccount();
    await expect(service.brand.set({})).rejects.toMatchObject({ kind: "invalidParams" });
  });

  it.each([
    ["png", "image/png", 40, 30],
    ["jpeg", "image/jpeg", 41, 31],
    ["webp", "image/webp", 42, 32],
  ] as const)("stores a logo in %s as it is, for anyone", async (type, content_type, width, height) => {
    const { service, caller } = await harness().newAccount();
    const logo = await takePhoto({ type, width, height });
    const { brand } = await service.brand.set({ logo: logo.toString("base64") });
    expect(brand).toMatchObject({ logo_width: width, logo_height: height });
    expect(brand.logo_url).toContain(`/starpost/v1/apps/${caller.appKey}/brand/logo?v=`);
    const read = await harness().transport.call("brand.logo", {}, { appKey: caller.appKey });
    expect({ ...read, bytes: Buffer.from(read.bytes) }).toEqual({ content_type, bytes: logo });
    const { brand: after } = await service.brand.set({ logo: tinyPng });
    expect(after.logo_url).not.toBe(brand.logo_url);
  });

  it("has a logo of limited size", async () => {
    const { service } = await harness().newAccount();
    const logo = await takePhoto({ type: "png", width: logoLimits.edge + 1, height: 1 });
    await expect(service.brand.set({ logo: logo.toString("base64") })).rejects.toMatchObject({ kind: "invalidParams" });
  });
});
