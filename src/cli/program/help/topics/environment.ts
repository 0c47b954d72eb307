import type { Topic } from "./topic.ts";

export const environment: Topic = {
  name: "environment",
  summary: "environment variables",
  blocks: [
    "Precedence: flag, environment, profile, default. An empty variable counts as unset.",
    {
      rows: [
        [
          "STARPOST_HOME",
          "one folder for configuration, embedded database, import runs, and outbox (default: the platform's folders)",
        ],
        ["STARPOST_PROFILE", "profile to use (default: the current profile; `local` on a fresh machine)"],
        [
          "STARPOST_DATABASE",
          "database of the local profile: a SQLite file, or postgres://user:password@host/database",
        ],
        ["STARPOST_DATABASE_READER", "URL of a PostgreSQL replica, for storefront reads of `starpost serve`"],
        ["STARPOST_DATABASE_POOL", "maximum number of connections to PostgreSQL, 2 to 1000 (default: 10)"],
        [
          "STARPOST_BASE_URL, STARPOST_APP_KEY, STARPOST_SECRET",
          "set together: an account of a remote service, without a login",
        ],
        ["STARPOST_UTOKEN", "access token of that account, in addition to or instead of the secret"],
        ["STARPOST_KEYRING", "`off` stores secrets in a file instead of the system keyring"],
        ["STARPOST_PUBLIC_URL", "base URL for links in emails and on pages (default: the address of `starpost serve`)"],
        ["STARPOST_PUBLIC_LIMITS, STARPOST_TRUST_PROXY", "defaults of these flags of `starpost serve`"],
        ["STARPOST_KEY", "key that encrypts account secrets: 32 bytes, hexadecimal or base64 (default: the key file)"],
        ["STARPOST_SMTP_HOST, _PORT, _TLS, _USER, _PASSWORD", "SMTP server; overrides `starpost mail configure`"],
        ["STARPOST_MAIL_FROM", "sender of emails; used with the SMTP variables"],
        ["STARPOST_ALLOW_PRIVATE_WEBHOOKS", "`on` allows webhooks to private network addresses"],
        [
          "STARPOST_REDACT",
          "hide email addresses and names of people in all output, like --redact; disabled by 0, false, or no",
        ],
        ["CI", "if set, never prompt, like --no-input"],
        ["HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY", "proxy for remote services, and hosts that bypass it"],
        ["NODE_EXTRA_CA_CERTS", "file with additional certificate authorities to trust"],
        ["NODE_DISABLE_COMPILE_CACHE", "1 disables the cache of compiled code that speeds up startup"],
        [
          "STARPOST_PAGER, PAGER",
          "pager for long tables on a terminal (default: less); `cat` or an empty value disables it",
        ],
        ["NO_COLOR, FORCE_COLOR", "disable colors, or enable them even without a terminal"],
      ],
    },
    "Secrets are never passed as flags. They are read from a prompt, standard input, or the environment.",
    { lines: ["export STARPOST_HOME=/srv/starpost", "starpost auth status"] },
  ],
};
