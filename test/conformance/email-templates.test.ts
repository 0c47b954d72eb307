import { beforeEach, expect, it } from "vitest";
import { emailCategories } from "../../src/contract/index.ts";
import { builtInTemplates } from "../../src/email/templates/built-in/templates.ts";
import type { Service } from "../../src/service/service.ts";
import { describeBackends, type Harness, startMs, type TestAccount } from "../support/backends.ts";

const own = {
  subject: "{{ store.name }} asks",
  text: "{% for p in products %}{{ p.name }}: {{ p.review_url }}\n{% endfor %}{{ unsubscribe_url }}",
  html: '<p>{{ customer.name }}</p><a href="{{ unsubscribe_url }}">no more</a>',
};

describeBackends("the templates of mails", (harness: () => Harness) => {
  let account: TestAccount;
  let service: Service;

  beforeEach(async () => {
    account = await harness().newAccount();
    service = account.service;
  });

  const listOwn = async (of = service) =>
    (await of.emailTemplates.list({})).templates
      .filter(({ is_own }) => is_own)
      .map(({ category }) => category);

  it("are built in, one of each category", async () => {
    const { templates } = await service.emailTemplates.list({});
    expect(templates.map(({ category }) => category)).toEqual([...emailCategories]);
    expect(templates.every(({ is_own, updated_at }) => !is_own && updated_at === null)).toBe(true);
    const { template } = await service.emailTemplates.get({ category: "map" });
    expect(template).toEqual({ category: "map", is_own: false, updated_at: null, ...builtInTemplates.map });
  });

  it("are replaced by the account's own, and come back", async () => {
    const kept = { category: "map", is_own: true, updated_at: new Date(startMs).toISOString(), ...own };
    expect(await service.emailTemplates.set({ category: "map", ...own })).toEqual({ template: kept });
    expect(await service.emailTemplates.get({ category: "map" })).toEqual({ template: kept });
    expect(await listOwn()).toEqual(["map"]);
    const again = { ...own, subject: "Again" };
    await service.emailTemplates.set({ category: "map", ...again });
    expect((await service.emailTemplates.get({ category: "map" })).template.subject).toBe("Again");
    const { template } = await service.emailTemplates.get({ category: "map", built_in: true });
    expect(template).toMatchObject({ is_own: false, ...builtInTemplates.map });
    expect(await service.emailTemplates.reset({ category: "map" })).toEqual({ template });
    expect(await service.emailTemplates.reset({ category: "map" })).toEqual({ template });
    expect(await listOwn()).toEqual([]);
  });

  it("are of one account alone", async () => {
    const other = await harness().newAccount();
    await service.emailTemplates.set({ category: "map", ...own });
    await other.service.emailTemplates.reset({ category: "map" });
    expect(await listOwn(other.service)).toEqual([]);
    expect(await listOwn()).toEqual(["map"]);
  });

  it("are looked at before they are kept, each part", async () => {
    const wrong = { ...own, html: `${own.html}\n{{ product.name }}` };
    await expect(service.emailTemplates.set({ category: "map", ...wrong })).rejects.toMatchObject({
      kind: "invalidParams",
      message: expect.stringContaining("html, line 2, column 4: ") as string,
    });
    const { text: _text, ...part } = own;
    await expect(
      service.emailTemplates.set({ category: "map", ...part } as typeof own & { category: "map" }),
    ).rejects.toMatchObject({ kind: "invalidParams" });
    await expect(
      service.emailTemplates.set({ category: "map", ...own, subject: "\u0007" }),
    ).rejects.toMatchObject({ kind: "invalidParams" });
    expect(await listOwn()).toEqual([]);
  });

  it("are shown with sample data, also before they are kept", async () => {
    const { mail } = await service.emailTemplates.preview({ category: "map" });
    expect(mail.html).toContain("Write a review");
    const { mail: changed } = await service.emailTemplates.preview({ category: "map", ...own });
    expect(changed).toMatchObject({
      subject: "Tea & Cups asks",
      html: expect.stringContaining("<p>Ana Müller</p>") as string,
    });
    expect((await service.emailTemplates.preview({ category: "map", subject: "S" })).mail).toMatchObject({
      subject: "S",
      text: mail.text,
    });
    expect(await listOwn()).toEqual([]);
    await service.emailTemplates.set({ category: "map", ...own });
    expect((await service.emailTemplates.preview({ category: "map" })).mail).toEqual(changed);
    await expect(service.emailTemplates.preview({ category: "map", text: "{{ x }}" })).rejects.toMatchObject({
      kind: "invalidParams",
    });
  });
});
