import { readSender } from "../../../config/mail-address.ts";
import { readHost, readSmtpPort, readTlsMode, tlsModes } from "../../../config/mail-settings.ts";
import { fields } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { exitStatus } from "../../program/exit-status.ts";
import { readText } from "../../program/flag-values.ts";

export const mailConfigure = command({
  name: "mail configure",
  summary: "Say how this machine sends mails: over a mail server, or into a folder",
  examples: [
    "starpost mail configure --host smtp.shop.example --user shop --from 'Tea & Cups <reviews@shop.example>'",
    "starpost mail configure --show",
    "starpost mail configure --outbox",
  ],
  flags: {
    host: { value: "<name>", description: "the mail server", read: readHost },
    port: {
      value: "<n>",
      description: "its port (587; 465 with implicit, 25 with none)",
      read: readSmtpPort,
    },
    tls: {
      value: "<mode>",
      description: "encryption: starttls, implicit, opportunistic or none (starttls)",
      values: tlsModes,
      read: readTlsMode,
    },
    user: { value: "<name>", description: "who signs in there", read: readText },
    "no-user": { description: "sign in nowhere" },
    "password-stdin": {
      description:
        "read the password from standard input; otherwise it is STARPOST_SMTP_PASSWORD, or asked for",
    },
    from: {
      value: "<address>",
      description: 'who mails come from: "Tea & Cups <reviews@shop.example>"',
      read: readSender,
    },
    outbox: { description: "write mails into a folder: nothing leaves this machine" },
    show: { description: "say what is configured, and ask nothing" },
    check: { description: "try whether the mail server would take a mail now; ends with 5 where not" },
  },
  run: async (context, { flags }) => {
    const { configureMail } = await import("./configure-run.ts");
    return configureMail(context, {
      host: flags.host,
      port: flags.port,
      tls: flags.tls,
      user: flags.user,
      hasNoUser: flags["no-user"] ?? false,
      from: flags.from,
      isPasswordOnStdin: flags["password-stdin"] ?? false,
      isOutbox: flags.outbox ?? false,
      isShow: flags.show ?? false,
      isCheck: flags.check ?? false,
    });
  },
  render: (found) => {
    const { ready, problem, has_password, ...rest } = found;
    const isServer = found.kind === "smtp";
    return fields({
      ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null)),
      ...(isServer && { password: has_password ? "set, not shown" : "none" }),
      ...(ready !== null && { ready }),
      ...(problem !== null && { problem }),
    });
  },
  exitStatus: ({ ready }) => (ready === false ? exitStatus.temporary : exitStatus.done),
});
