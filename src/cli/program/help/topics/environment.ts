import type { Topic } from "./topic.ts";

export const environment: Topic = {
  name: "environment",
  summary: "the variables that are read",
  blocks: [
    "A flag comes before the environment, the environment before the profile, and the profile before what is usual. An empty variable is one that is not set.",
    {
      rows: [
        [
          "STARPOST_HOME",
          "one folder for settings, database, import runs and outbox (the platform's own folders)",
        ],
        ["STARPOST_PROFILE", "the profile to use (the current one; `local` on a fresh machine)"],
        [
          "STARPOST_DATABASE",
          "the embedded engine's database: a file for SQLite, or postgres://user:password@host/database",
        ],
        [
          "STARPOST_BASE_URL, STARPOST_APP_KEY, STARPOST_SECRET",
          "together: an account of a service, without a login",
        ],
        ["STARPOST_UTOKEN", "a token of that account, with the secret or in its place"],
        ["STARPOST_KEYRING", "off: secrets go into a file, and the system's keyring is left alone"],
        [
          "STARPOST_PUBLIC_URL",
          "where shoppers reach the service, for the links of mails and pages (where `serve` listens)",
        ],
        [
          "STARPOST_KEY",
          "the key that seals accounts' secrets: 32 bytes, hexadecimal or base64 (the key file)",
        ],
        [
          "STARPOST_SMTP_HOST, _PORT, _TLS, _USER, _PASSWORD",
          "the mail server, in place of `mail configure`",
        ],
        ["STARPOST_MAIL_FROM", "who mails come from, with the same"],
        ["STARPOST_ALLOW_PRIVATE_WEBHOOKS", "on: webhooks may go to private addresses"],
        [
          "STARPOST_REDACT",
          "hide e-mail addresses in all that is printed, as --redact does; off with 0, false or no",
        ],
        ["CI", "set: nothing is asked, as with --no-input"],
        [
          "HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY",
          "the proxy to a service, and the hosts that need none",
        ],
        ["NODE_EXTRA_CA_CERTS", "a file of further certificate authorities to trust"],
        ["NO_COLOR, FORCE_COLOR", "no colour at all; or colour also where no terminal is"],
      ],
    },
    "A secret is never a flag: it is asked for, read from standard input, or taken from the environment.",
    { lines: ["export STARPOST_HOME=/srv/starpost", "starpost auth status"] },
  ],
};
