import { markup, render, trusted } from "./markup.ts";

export interface PreviewedEmail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Identifies a file as a preview that may be overwritten. */
export const previewMarker = "<!-- starpost mail preview -->";

/** The frame inherits this policy: images and styles are shown, but nothing else is loaded, sent, or run. */
const policy =
  "default-src 'none'; img-src http: https: data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** Renders a preview of an email: its subject, its HTML in a sandboxed frame, and its text. */
export function renderEmailPreview(category: string, { subject, text, html }: PreviewedEmail): string {
  return render(markup`<!DOCTYPE html>
${trusted(previewMarker)}
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${trusted(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Preview of ${category}</title>
<style>
body { background: #fff; color: #1b1b1f; font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 48rem; padding: 1rem; }
h1, h2 { font-size: 1.1rem; }
iframe { border: 1px solid #55555e; box-sizing: border-box; height: 70vh; width: 100%; }
pre { border: 1px solid #55555e; overflow-wrap: anywhere; padding: 1rem; white-space: pre-wrap; }
</style>
</head>
<body>
<main>
<h1>Preview of ${category}, with sample data</h1>
<p>Subject: <strong><bdi>${subject}</bdi></strong></p>
<h2>HTML</h2>
<iframe title="Email as HTML" sandbox="" srcdoc="${html}"></iframe>
<h2>Text</h2>
<pre>${text}</pre>
</main>
</body>
</html>
`);
}
