import type { EmailTemplate } from "../../outgoing-email.ts";

/** The parts of a template that depend on the category, in Liquid. */
export interface Message {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Completes the sentence "You received this email because …". */
  readonly because: string;
  /** Whether the unsubscribe link stops review requests instead of these emails. */
  readonly isRequested?: boolean;
}

const style = `
      body { margin: 0; background: #ffffff; color: #1b1b1f; font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
      main, footer { max-width: 36rem; margin: 0 auto; padding: 1rem; }
      h1 { font-size: 1.4rem; line-height: 1.25; }
      h1, h2, p, blockquote { overflow-wrap: anywhere; }
      h2 { font-size: 1.1rem; line-height: 1.3; margin: 0 0 0.5rem; }
      img { display: block; max-width: 10rem; max-height: 10rem; margin: 0 0 0.5rem; border: 0; }
      a { color: #0b4fb3; }
      .button { display: inline-block; padding: 0.6rem 1.2rem; border-radius: 0.25rem; background: #0b4fb3; color: #ffffff; text-decoration: none; }
      .stars a { display: inline-block; min-width: 1.5rem; margin: 0 0.25rem 0.25rem 0; padding: 0.6rem 0.7rem; border: 1px solid #6f6f7a; border-radius: 0.25rem; color: #1b1b1f; text-align: center; text-decoration: none; }
      .stars b { color: #8a5200; font-size: 1.25rem; line-height: 1; }
      .product { margin: 0 0 1.5rem; padding: 1rem 0 0; border-top: 1px solid #d5d5dc; }
      .notice { padding: 0.5rem 1rem; border: 1px solid #8a5200; }
      blockquote { margin: 0 0 1rem; padding: 0 0 0 1rem; border-left: 3px solid #d5d5dc; }
      footer { border-top: 1px solid #d5d5dc; color: #55555e; font-size: 0.875rem; }
    `;

/** Builds a complete template, which stores can use as a starting point. */
export function frame({ subject, text, html, because, isRequested = false }: Message): EmailTemplate {
  const unsubscribe = `Unsubscribe from ${isRequested ? "review requests" : "these emails"}`;
  return {
    subject,
    text: `Hi{% if customer.name != "" %} {{ customer.name }}{% endif %},

${text.trim()}

{% if store.is_named %}{{ store.name }}
{% endif %}{% if store.url %}{{ store.url }}
{% endif %}
--\u0020
You received this email because ${because}.
${isRequested ? unsubscribe : "Unsubscribe"}: {{ unsubscribe_url }}
`,
    html: `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light">
    <title>${subject}</title>
    <style>${style}</style>
  </head>
  <body>
    <main>
      <p>Hi{% if customer.name != "" %} <bdi>{{ customer.name }}</bdi>{% endif %},</p>
${html.trim().replaceAll(/^(?=.)/gm, " ".repeat(6))}
      <p>{% if store.is_named == false %}{% if store.url %}<a href="{{ store.url }}">Visit our store</a>{% endif %}{% elsif store.url %}<a href="{{ store.url }}"><bdi>{{ store.name }}</bdi></a>{% else %}<bdi>{{ store.name }}</bdi>{% endif %}</p>
    </main>
    <footer>
      <p>You received this email because ${isolate(because)}.</p>
      <p><a href="{{ unsubscribe_url }}">${unsubscribe}</a></p>
    </footer>
  </body>
</html>
`,
  };
}

/** Wraps each value in an element that isolates its text direction. */
export function isolate(sentence: string): string {
  return sentence.replaceAll(/\{\{[^{}]*\}\}/g, (output) => `<bdi>${output}</bdi>`);
}
