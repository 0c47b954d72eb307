import { beforeEach, expect, it } from "vitest";
import { sentEmailCategories } from "../../src/contract/index.ts";
import { builtInTemplates } from "../../src/email/templates/built-in/templates.ts";
import type { Service } from "../../src/service/service.ts";
import { describeBackends, type Harness, startMs, type TestAccount } from "../support/backends.ts";

const customTemplate = {
  subject: "{{ store.name }} asks",
  text: "{% for p in products %}{{ p.name }}: {{ p.review_url }}\n{% endfor %}{{ unsubscribe_url }}",
  html: '<p>{{ customer.name }}</p><a href="{{ unsubscribe_url }}">no more</a>',
};

describeBackends("email templates", (harness: () => Harness) => {
  let account: TestAccount;
  let service: Service;

  beforeEach(async () => {
    account = await harness().newAccount();
    service = account.service;
  });

  const listCustom = async (of = service) =>
    (await of.emailTemplates.list({})).templates.filter(({ is_own }) => is_own).map(({ category }) => category);

  it("have a built-in template for each category", async () => {
    const { templates } = await service.emailTemplates.list({});
    expect(templates.map(({ category }) => category)).toEqual([...sentEmailCategories]);
    expect(templates.every(({ is_own, updated_at }) => !is_own && updated_at === null)).toBe(true);
    const { template } = await service.emailTemplates.get({ category: "map" });
    expect(template).toEqual({ category: "map", is_own: false, updated_at: null, ...builtInTemplates.map });
  });

  it("can be replaced by the account's own, and reset", async () => {
    const stored = {
      category: "map",
      is_own: true,
      updated_at: new Date(startMs).toISOString(),
      ...customTemplate,
    };
    expect(await service.emailTemplates.set({ category: "map", ...customTemplate })).toEqual({
      template: stored,
    });
    expect(await service.emailTemplates.get({ category: "map" })).toEqual({ template: stored });
    expect(await listCustom()).toEqual(["map"]);
    const repeated = { ...customTemplate, subject: "Again" };
    await service.emailTemplates.set({ category: "map", ...repeated });
    expect((await service.emailTemplates.get({ category: "map" })).template.subject).toBe("Again");
    const { template } = await service.emailTemplates.get({ category: "map", built_in: true });
    expect(template).toMatchObject({ is_own: false, ...builtInTemplates.map });
    expect(await service.emailTemplates.reset({ category: "map" })).toEqual({ template });
    expect(await service.emailTemplates.reset({ category: "map" })).toEqual({ template });
    expect(await listCustom()).toEqual([]);
  });

  it("are validated before they are stored, each part", async () => {
    const invalidTemplate = { ...customTemplate, html: `${customTemplate.html}\n{{ product.name }}` };
    await expect(service.emailTemplates.set({ category: "map", ...invalidTemplate })).rejects.toMatchObject({
      kind: "invalidParams",
      message: expect.stringContaining("html, line 2, column 4: ") as string,
      position: { field: "html", line: 2, column: 4, problem: expect.stringContaining("product.name") as string },
    });
    const { text: _text, ...part } = customTemplate;
    await expect(
      service.emailTemplates.set({ category: "map", ...part } as typeof customTemplate & { category: "map" }),
    ).rejects.toMatchObject({ kind: "invalidParams" });
    await expect(
      service.emailTemplates.set({ category: "map", ...customTemplate, subject: "\u0007" }),
    ).rejects.toMatchObject({ kind: "invalidParams" });
    expect(await listCustom()).toEqual([]);
  });

  it("are previewed with sample data, even before they are stored", async () => {
    const { mail } = await service.emailTemplates.preview({ category: "map" });
    expect(mail.html).toContain("Write a review");
    const { mail: changed } = await service.emailTemplates.preview({ category: "map", ...customTemplate });
    expect(changed).toMatchObject({
      subject: "Tea & Cups asks",
      html: expect.stringContaining("<p>Ana Müller</p>") as string,
    });
    expect((await service.emailTemplates.preview({ category: "map", subject: "S" })).mail).toMatchObject({
      subject: "S",
      text: mail.text,
    });
    expect(await listCustom()).toEqual([]);
    await service.emailTemplates.set({ category: "map", ...customTemplate });
    expect((await service.emailTemplates.preview({ category: "map" })).mail).toEqual(changed);
    await expect(service.emailTemplates.preview({ category: "map", text: "{{ x }}" })).rejects.toMatchObject({
      kind: "invalidParams",
    });
  });
});
