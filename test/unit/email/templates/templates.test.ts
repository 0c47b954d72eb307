import { describe, expect, it } from "vitest";
import { createBrand, sentEmailCategories } from "../../../../src/contract/index.ts";
import { builtInTemplates } from "../../../../src/email/templates/built-in/templates.ts";
import { checkTemplate, createSampleEmail } from "../../../../src/email/templates/check-template.ts";
import { writeOutMessages } from "../../../../src/email/templates/built-in/write-out.ts";
import type { EmailTemplate } from "../../../../src/email/outgoing-email.ts";
import { renderEmail, createScope } from "../../../../src/email/templates/render-email.ts";
import { findFaults } from "../../../support/html.ts";

const unsubscribe = "{{ unsubscribe_url }}";

function aTemplate(fields: Partial<EmailTemplate> = {}): EmailTemplate {
  return { subject: "Hello", text: unsubscribe, html: `<p>${unsubscribe}</p>`, ...fields };
}

const fullBrand = createBrand(
  { language: "ar", postal_address: "1 Harbor Street\nHamburg", privacy_url: "https://shop.example/privacy" },
  { logo_url: "https://shop.example/logo.png", logo_width: 240, logo_height: 60 },
);

const html = (source: string) => aTemplate({ html: `${source}\n${unsubscribe}` });

async function make(source: string, data: Record<string, unknown> = {}): Promise<string> {
  const mail = createSampleEmail("anonymous_testimonials_request");
  const scope = createScope({ ...mail, data: { ...mail.data, ...data } });
  return (await renderEmail(aTemplate({ html: source }), scope)).html;
}

describe.each(sentEmailCategories.map((category) => [category]))("the template of %s", (category) => {
  it("passes the check and renders valid HTML", async () => {
    const made = await checkTemplate(category, builtInTemplates[category]);
    const branded = await checkTemplate(category, builtInTemplates[category], fullBrand);
    for (const { html: page } of [made, branded]) expect(await findFaults(page, { isEmail: true })).toEqual([]);
    expect(made.html).toMatch(/^<!DOCTYPE html>\n<html lang="en" dir="ltr"/);
    expect(made.html).not.toContain("<script");
    // Outlook ignores the padding of links.
    for (const [cell] of made.html.matchAll(/<[^<]* class="button"[^>]*>/g)) expect(cell).toMatch(/^<td .*padding:/);
    expect(made.subject).not.toBe("");
    expect(`${made.subject}${made.text}${made.html}`).not.toMatch(/\{\{|\{%|undefined|\[object/);
  });

  it("renders the same if its messages are written out, for people to edit", async () => {
    const written = writeOutMessages(builtInTemplates[category], "en");
    expect(JSON.stringify(written)).not.toMatch(/\| t\b/);
    const withoutSpace = (made: EmailTemplate) => ({ ...made, html: made.html.replaceAll(/\s+/g, " ") });
    const original = await checkTemplate(category, builtInTemplates[category]);
    expect(withoutSpace(await checkTemplate(category, written))).toEqual(withoutSpace(original));
  });

  it("has the same content as text and as HTML", async () => {
    const made = await checkTemplate(category, builtInTemplates[category]);
    const listWords = (text: string) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? []);
    const inHtml = listWords(
      made.html
        .replace(/<head>.*<\/head>/s, "")
        .replaceAll(/<a [^>]*href="([^"]*)"[^>]*>/g, " $1 ")
        .replaceAll(/<[^>]*>/g, " ")
        .replaceAll("&lt;", "<")
        .replaceAll("&gt;", ">"),
    );
    const missing = [...listWords(made.text)].filter((word) => !inHtml.has(word));
    // Links replace buttons in the text.
    expect(missing.filter((word) => !["more", "mails", "this", "kind", "answer", "comment"].includes(word))).toEqual(
      [],
    );
  });
});

describe.each(["map", "reminder"] as const)("the star links of %s", (category) => {
  it("are five per product, in both parts, with the rating of each", async () => {
    const made = await checkTemplate(category, builtInTemplates[category]);
    const inHtml = made.html.matchAll(/href="[^"]*\?score=(\d)"[^>]*>(\d)\u00A0<b [^>]*>★/g);
    expect(Array.from(inHtml, ([, score, shown]) => `${score}${shown}`).join(" ")).toBe(
      "11 22 33 44 55 11 22 33 44 55",
    );
    const inText = made.text.matchAll(/^(\d) ★ https:\S+\?score=(\d)$/gm);
    expect(Array.from(inText, ([, shown, score]) => `${shown}${score}`).join(" ")).toBe(
      "55 44 33 22 11 55 44 33 22 11",
    );
  });

  it("are available to other templates", async () => {
    const own = html(
      "{% for p in products %}{% for s in p.stars %}<a href='{{ s.url }}'>{{ s.score }}</a>{% endfor %}{% endfor %}",
    );
    const { html: made } = await checkTemplate(category, own);
    expect(made.match(/\?score=[1-5]'>[1-5]</g)).toHaveLength(10);
  });
});

describe("a template with an error is rejected with its position", () => {
  it.each<[string, Partial<EmailTemplate>, string]>([
    ["an unknown variable", { text: "x\n  {{ nope }}" }, "text, line 2, column 6: unknown variable nope"],
    [
      "an unknown variable in a branch that is not rendered",
      { html: "{% if is_test %}\n{{ customer.nmae }}{% endif %}" },
      "html, line 2, column 4: unknown variable customer.nmae",
    ],
    [
      "an unknown variable of a list element",
      { html: "{% for p in products %}{{ p.nmae }}{% endfor %}" },
      "html, line 1, column 27: unknown variable p.nmae",
    ],
    [
      "a property of the prototype",
      { text: "{{ customer.constructor }}" },
      "text, line 1, column 4: unknown variable customer.constructor",
    ],
    [
      "a variable that some emails lack",
      { text: "{{ products[1].name }}" },
      "text, line 1, column 4: unknown variable products",
    ],
    ["an unknown filter", { subject: "{{ store.name | shout }}" }, "subject, line 1, column 1: unknown filter shout"],
    ["an unknown tag", { text: "{% frob %}" }, "text, line 1, column 1: unknown tag frob"],
    ["an include", { html: "{% include 'etc/passwd' %}" }, "html, line 1, column 1: unknown tag include"],
    ["another template", { html: "{% render 'x' %}" }, "unknown part x"],
    ["a layout", { html: "{% layout '/etc/passwd' %}" }, "unknown part /etc/passwd"],
    ["unescaped output", { html: "<p>{{ customer.name | raw }}</p>" }, "html, line 1, column 4: unknown filter raw"],
    ["raw data", { html: "{{ customer | json }}" }, "unknown filter json"],
    [
      "an unknown message",
      { html: "<p>{{ 'email.nope' | t }}</p>" },
      "html, line 1, column 4: unknown message email.nope",
    ],
    [
      "a message without its value",
      { text: "{{ 'email.verify.reason' | t }}" },
      "value store of the message is missing",
    ],
    ["captured HTML", { html: "{% capture x %}<b>{% endcapture %}" }, "unknown tag capture"],
    ["a tag that does not escape", { html: "{% cycle customer.name, 'x' %}" }, "unknown tag cycle"],
    [
      "an unclosed loop",
      { text: "{% for i in (1..5) %}x" },
      "text, line 1, column 1: tag {% for i in (1..5) %} not closed",
    ],
    ["an unclosed output", { text: "{{ store.name" }, 'text, line 1, column 1: output "{{ store.name" not closed'],
    [
      "an unquoted value",
      { html: "<p>\n <a href={{ store.url }}>x</a>" },
      "html, line 2, column 10: values in a tag must be quoted",
    ],
    [
      "a value as an attribute",
      { html: '<p class="a" {{ customer.name }}>' },
      "html, line 1, column 14: values in a tag must be quoted",
    ],
    [
      "a value in a script",
      { html: "<script>x = '{{ customer.name }}'</script>" },
      "html, line 1, column 14: values are not allowed in <script>",
    ],
    [
      "a value in a style",
      { html: "<style>p { color: {{ customer.name }} }</style>" },
      "values are not allowed in <style>",
    ],
    [
      "an unquoted value from a Liquid tag",
      { html: "<p title={% echo customer.name %}>" },
      "html, line 1, column 10: values in a tag must be quoted",
    ],
    [
      "an unquoted value from a Liquid tag with several lines",
      { html: "<p title={%- liquid\necho customer.name\n-%}>" },
      "values in a tag must be quoted",
    ],
    [
      "a value from a Liquid tag in a script",
      { html: "<script>x = '{% echo customer.name %}'</script>" },
      "html, line 1, column 14: values are not allowed in <script>",
    ],
    [
      "a value in an event handler",
      { html: `<p title="x"onClick = "f('{{ customer.name }}')">` },
      'values are not allowed in onclick="…"',
    ],
    [
      "a value in a style attribute",
      { html: `<p style="color: {{ customer.name }}">` },
      'values are not allowed in style="…"',
    ],
    [
      "a value in a tag, after letters whose case variants have other lengths",
      { html: `<p>${"İ".repeat(12)}</p><a href={{ store.url }}>` },
      "html, line 1, column 28: values in a tag must be quoted",
    ],
    ["an empty subject", { subject: " {% comment %}x{% endcomment %} " }, "subject: is empty"],
    ["a text without an unsubscribe link", { text: "Hello" }, "text: does not contain the unsubscribe link"],
    ["HTML without an unsubscribe link", { html: "<p>Hello</p>" }, "html: does not contain the unsubscribe link"],
  ])("%s", async (_what, fields, problem) => {
    await expect(checkTemplate("map", aTemplate(fields))).rejects.toMatchObject({
      name: "TemplateError",
      message: expect.stringContaining(problem) as string,
    });
  });

  it.each([
    '<a href="{{ store.url }}" title=\'{{ store.name | default: "x" }}\'>{{ customer.name }}</a>',
    `<p>${"İ".repeat(12)}</p><a href="{{ store.url }}">x</a> <a href="{{ store.url }}">y</a>`,
    '<p {% if is_test %}class="test"{% endif %}>1 < 2 and {{ order_id }}</p>',
    "<!-- {{ customer.name }} --><title>{{ order_id }}</title><style>p { margin: 0 }</style>",
    "{% assign first = products | first %}{{ first.name }} {{ products.size }} {% raw %}{{ x }}{% endraw %}",
    "{% for p in products %}{{ forloop.index }}: {{ p.name | upcase }}{% unless forloop.last %}, {% endunless %}{% endfor %}",
    "{% case order_id %}{% when '1' %}x{% else %}{{ order_date | date: '%d.%m.%Y' }}{% endcase %}",
  ])("accepts %s", async (source) => {
    await expect(checkTemplate("map", html(source))).resolves.toBeDefined();
  });
});

describe("a template that exceeds a limit", () => {
  it.each([
    ["a very long range", "{% for i in (1..100000000) %}{{ i }}{% endfor %}", "check its loops"],
    [
      "nested loops",
      "{% for i in (1..1000) %}{% for j in (1..1000) %}{% for k in (1..1000) %}x{% endfor %}{% endfor %}{% endfor %}",
      "check its loops",
    ],
    [
      "text that doubles",
      "{% assign s = 'xxxxxxxxxx' %}{% for i in (1..40) %}{% assign s = s | append: s %}{% endfor %}",
      "check its loops",
    ],
    [
      "text that is replaced with multiples of itself",
      "{% assign s = 'xxxxxxxxxx' %}{% for i in (1..9) %}{% assign s = s | replace: 'x', s %}{% endfor %}",
      "check its loops",
    ],
    [
      "unmatched direction marks",
      "{% assign s = '\u202A' %}{% assign t = '\u2069' %}{% for i in (1..17) %}{% assign s = s | append: s %}{% assign t = t | append: t %}{% endfor %}{{ s | append: t }}",
      "",
    ],
    ["much output", `{% for i in (1..200) %}${"x".repeat(9_000)}{% endfor %}`, "too much output"],
    ["a long template", "x".repeat(100_001), "is longer than 100000 characters"],
    ["deep nesting", `${"{% if true %}".repeat(4_000)}${"{% endif %}".repeat(4_000)}`, ""],
    ["many unclosed elements", "<style>".repeat(14_000), ""],
    ["many incomplete tags", "<a ".repeat(33_000), ""],
  ])("is stopped quickly: %s", async (_what, source, problem) => {
    const startedMs = performance.now();
    const ended = await checkTemplate("map", aTemplate({ html: source + unsubscribe })).then(
      () => "",
      (error: Error) => error.message,
    );
    expect(performance.now() - startedMs).toBeLessThan(5_000);
    expect(ended).toContain(problem);
  });
});

describe("user text", () => {
  it.each([
    ["{{ 'email.greeting_named' | t: name: content }}", "Hi <bdi>&lt;b&gt;&amp;</bdi>,"],
    ["{% assign x = 'email.greeting_named' | t: name: content %}{{ x }}", "Hi <bdi>&lt;b&gt;&amp;</bdi>,"],
    ["{{ 'email.greeting_named' | t: name: content | slice: 0, 6 }}", "Hi &lt;bd"],
    ["{{ content | t }}", "unknown message"],
  ])("is escaped and isolated in messages: %s", async (source, expected) => {
    expect(await make(source, { content: "<b>&" }).catch(({ message }: Error) => message)).toContain(expected);
  });

  it.each([
    "{{ content }}",
    "{{ content | escape }}",
    "{{ content | newline_to_br }}",
    "{{ content | newline_to_br | replace: '&lt;', '<' }}",
    "{{ content | append: content | slice: 0, 60 }}",
    "{% assign x = content %}{{ x }}",
    "{{ content | escape | newline_to_br }}",
    "{% echo content %}",
    "{% liquid\necho content\n%}",
    "{{ content | split: '' | join: '' }}",
    "{{ content | prepend: content | newline_to_br }}",
  ])("is escaped by %s", async (source) => {
    const made = await make(source, { content: `<script>alert("1")</script>\n<img src=x onerror='x'>` });
    expect(made).toContain("&lt;");
    expect(made.replaceAll(/<br>/g, "")).not.toMatch(/[<"']/);
  });

  it("is not interpreted as a template", async () => {
    const content = "{{ unsubscribe_url }}{% for i in (1..3) %}x{% endfor %}";
    expect(await make("{{ content }}", { content })).toBe(content);
  });

  it("does not change the direction of the text that follows", async () => {
    expect(await make("{{ title }}|", { title: "\u202Eabc" })).toBe("\u202Eabc\u202C|");
    expect(await make("{{ title }}|", { title: "\u2067a\u202Bb\u2069c\u202D" })).toBe(
      "\u2067a\u202Bb\u2069c\u202D\u202C|",
    );
    expect(await make("{{ title }}|", { title: "\u2069\u202Cabc" })).toBe("abc|");
    expect(await make("{{ title }}|", { title: "\u202Aabc\u202C שלום" })).toBe("\u202Aabc\u202C שלום|");
  });

  it("keeps its line breaks only where they are allowed", async () => {
    const text = "a\r\nb\u0000\u2028c\u0007\td";
    expect(await make("{{ content }}", { content: text })).toBe("a\nb\nc\td");
    expect(await make("{{ title }}", { title: text })).toBe("a b c d");
  });

  it("is a link only if it is a web URL", async () => {
    const shown = (verify_url: string) => make('<a href="{{ verify_url }}">', { verify_url });
    expect(await shown("javascript:alert(1)")).toBe('<a href="">');
    expect(await shown('https://x.example/"><script>')).toBe('<a href="https://x.example/&quot;&gt;&lt;script&gt;">');
  });

  it("is a single line in a subject", async () => {
    const { subject } = await renderEmail(
      aTemplate({ subject: "New:\n {{ title }} \u202E{{ content }}" }),
      createScope({
        ...createSampleEmail("comment_request"),
        data: { title: "a\r\nBcc: x@y.example", content: `b\n${"c".repeat(300)}` },
      }),
    );
    expect(subject).toMatch(/^New: a Bcc: x@y\. example b c+…$/);
    expect(Array.from(subject)).toHaveLength(250);
  });
});
