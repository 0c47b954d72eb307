import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { builtInTemplates } from "../../../../src/email/templates/built-in/templates.ts";
import type { EmailTemplate } from "../../../../src/email/outgoing-email.ts";
import { openRenderer } from "../../../../src/email/templates/liquid.ts";
import { closeTemplateThreads, renderWithFallback } from "../../../../src/email/templates/render-custom.ts";
import { TemplateRenderer } from "../../../../src/email/templates/template-renderer.ts";
import { anOutgoingEmail } from "../../../support/outgoing-email.ts";
import { measureCpu } from "../../../support/cpu-time.ts";

afterAll(closeTemplateThreads);

const unsubscribe = "{{ unsubscribe_url }}";
const aTemplate = (fields: Partial<EmailTemplate> = {}): EmailTemplate => ({
  subject: "{{ store.name }}",
  text: unsubscribe,
  html: unsubscribe,
  ...fields,
});

/** An email that takes minutes to render, although the check of its template with two products takes milliseconds. */
const slow = {
  ...anOutgoingEmail(),
  data: { products: Array.from({ length: 50 }, () => ({ name: "A teapot" })) },
  template: aTemplate({ text: "{% for p in products %}".repeat(6) + "{% endfor %}".repeat(6) + unsubscribe }),
};

function open(limits?: ConstructorParameters<typeof TemplateRenderer>[0]) {
  const renderer = new TemplateRenderer(limits);
  onTestFinished(() => renderer.close());
  const check = (template: EmailTemplate, accountId = 1) =>
    renderer.render(accountId, { type: "check", category: "map", template });
  return { renderer, check };
}

/** Measures the longest time, in milliseconds, for which the event loop was blocked. */
function watchEventLoop(): () => number {
  let [last, longest] = [performance.now(), 0];
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 5);
  return () => {
    clearInterval(timer);
    return longest;
  };
}

describe("the thread for templates", () => {
  it("renders templates, and reports errors with their positions", async () => {
    const { check } = open();
    expect(await check(aTemplate())).toMatchObject({ subject: "Tea & Cups" });
    await expect(check(aTemplate({ html: `\n {{ nope }}${unsubscribe}` }))).rejects.toMatchObject({
      name: "TemplateError",
      part: "html",
      line: 2,
      column: 5,
    });
  });

  it("does not blame a template if the thread does not start", async () => {
    const { check } = open({ startMs: 0 });
    await expect(check(aTemplate())).rejects.toMatchObject({ name: "RendererUnavailableError" });
  });

  it("stops a template at the deadline, without blocking the process, and renders the next one", async () => {
    const { renderer, check } = open({ renderMs: 1_000 });
    await check(aTemplate());
    const stopWatching = watchEventLoop();
    const [refused, rendered] = await Promise.allSettled([
      renderer.render(1, { type: "render", email: slow }),
      check(aTemplate(), 2),
    ]);
    expect(stopWatching()).toBeLessThan(900);
    expect(refused).toMatchObject({ status: "rejected", reason: { part: "template", name: "TemplateError" } });
    expect(rendered.status).toBe("fulfilled");
  });

  it("stops a template that needs too much memory", async () => {
    const { check } = open({ memoryMb: 10, renderMs: 20_000 });
    const loops = Array.from({ length: 90 }, (_, nth) => `{% assign a${nth} = (1..10000) | reverse %}`).join("");
    await expect(check(aTemplate({ text: loops + unsubscribe }))).rejects.toMatchObject({ part: "template" });
  });

  it("lets accounts take turns, and limits how many templates of an account wait", async () => {
    const { check } = open();
    const order: string[] = [];
    const add = (accountId: number, name: string) => check(aTemplate(), accountId).then(() => order.push(name));
    const first = ["a1", "a2", "a3"].map((name) => add(1, name));
    await Promise.all([...first, add(2, "b1")]);
    expect(order).toEqual(["a1", "a2", "b1", "a3"]);
    const many = await Promise.allSettled(Array.from({ length: 15 }, () => check(aTemplate())));
    expect(many.filter(({ status }) => status === "rejected")).toHaveLength(4);
  });

  it("rejects what is waiting when it is closed, and can start again", async () => {
    const { renderer, check } = open();
    const waiting = [check(aTemplate()), check(aTemplate())];
    await Promise.all([renderer.close(), ...waiting.map((result) => expect(result).rejects.toThrow())]);
    await expect(check(aTemplate())).resolves.toBeDefined();
  });

  it("finds the variables of a large template in linear time", async () => {
    const { listVariables } = await openRenderer();
    const timeOf = (outputs: number) => {
      const text = "{{ order_id }}\n".repeat(outputs);
      return measureCpu(() => expect(listVariables("text", text)).toHaveLength(outputs));
    };
    const bestOf = (outputs: number) => Math.min(...[1, 2, 3].map(() => timeOf(outputs)));
    timeOf(100);
    expect(bestOf(6_400)).toBeLessThan(100 * Math.max(1, bestOf(400)));
  });
});

describe("an email with a custom template", () => {
  it("has the built-in template if its own fails", async () => {
    const email = anOutgoingEmail({ template: aTemplate({ text: "{{ nope }}" }) });
    const { templateProblem, ...rendered } = await renderWithFallback(email, "sending");
    expect(templateProblem).toEqual({ message: expect.stringContaining("nope"), isOfTemplate: true });
    const { template: _template, ...plain } = email;
    expect(rendered).toEqual(await renderWithFallback(plain, "sending"));
    expect(rendered.subject).not.toBe(builtInTemplates.map.subject);
  });
});
