import { beforeEach, expect, it } from "vitest";
import { sentEmailCategories } from "../../src/contract/index.ts";
import { builtInTemplates } from "../../src/email/templates/built-in/templates.ts";
import { writeOutMessages } from "../../src/email/templates/built-in/write-out.ts";
import type { Service } from "../../src/service/service.ts";
import { describeBackends, type Harness, type TestAccount } from "../support/backends.ts";

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
    expect(template).toEqual({
      category: "map",
      is_own: false,
      updated_at: null,
      ...writeOutMessages(builtInTemplates.map, "en"),
    });
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
});
