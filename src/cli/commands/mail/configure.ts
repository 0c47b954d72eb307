import { parseSender, parseHost, parsePort, parseTlsMode, tlsModes } from "../../../config/email-settings.ts";
import { fields } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { exitStatus } from "../../program/exit-status.ts";

const serverFlags = ["host", "port", "tls", "user", "no-user", "password-stdin"] as const;

export default command({
  summary: "Configure how this machine sends emails: through a mail server or to a folder",
  database: "optional",
  isLocalChange: true,
  examples: [
    "starpost mail configure --host smtp.shop.example --user shop --from 'Tea & Cups <reviews@shop.example>'",
    "starpost mail configure --host localhost --port 25 --tls none --no-user --from reviews@shop.example",
    "starpost mail configure --show",
    "starpost mail configure --check",
    "starpost mail configure --outbox",
  ],
  flags: {
    host: { value: "<name>", description: "mail server", read: parseHost },
    port: {
      value: "<n>",
      description: "port (default: 587; 465 with --tls implicit, 25 with --tls none)",
      read: parsePort,
    },
    tls: {
      value: "<mode>",
      description: "encryption: starttls, implicit, opportunistic, or none (default: starttls)",
      values: tlsModes,
      read: parseTlsMode,
    },
    user: { value: "<name>", description: "user name for the mail server" },
    "no-user": { description: "connect without authentication", exclusive: ["user", "password-stdin"] },
    "password-stdin": {
      description: "read the password from standard input (default: STARPOST_SMTP_PASSWORD, or a prompt)",
    },
    from: {
      value: "<address>",
      description: 'sender of all emails: "Tea & Cups <reviews@shop.example>"',
      read: parseSender,
    },
    outbox: { description: "write emails to a folder instead of sending them", exclusive: serverFlags },
    show: { description: "show the current configuration", exclusive: [...serverFlags, "from", "outbox"] },
    check: { description: "test the connection to the mail server (exit status 5 if it fails)" },
  },
  run: async (context, { flags }) => {
    const { configureMail } = await import("./configure-run.ts");
    return configureMail(context, flags);
  },
  render: (found) => {
    const { ready, problem, has_password, ...rest } = found;
    const isServer = found.kind === "smtp";
    return fields({
      ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null)),
      ...(isServer && { password: has_password ? "set" : "none" }),
      ...(ready !== null && { ready }),
      ...(problem !== null && { problem }),
    });
  },
  problem: ({ problem }) => problem,
  exitStatus: ({ ready }) => (ready === false ? exitStatus.temporary : exitStatus.done),
});
