import { command } from "../../program/command.ts";
import { integerFrom } from "../../program/flag-values.ts";
import { formatDiagnosis, statusOfDiagnosis } from "./diagnosis-view.ts";

export default command({
  summary: "Check the installation and suggest fixes",
  database: "optional",
  examples: ["starpost doctor", "starpost doctor --json", "starpost doctor --profile local --timeout 60"],
  notes: [
    "Doctor changes nothing. The exit status is 0 if there are no problems (warnings do not count), 4 if the only problem is rejected credentials, 5 if the only problem is that the service cannot be reached, and 1 otherwise.",
  ],
  flags: {
    timeout: {
      value: "<seconds>",
      description: "time limit in seconds, 1 to 600",
      default: 10,
      read: integerFrom(1, 600),
    },
  },
  run: async (context, { flags }) => {
    const { io, globals } = context;
    const { runChecks } = await import("../../../doctor/doctor.ts");
    const hostContext = await context.host();
    return runChecks({
      ...hostContext,
      cwd: io.cwd,
      node: { version: io.node.version, required: io.node.wanted },
      profileFlag: globals.profile,
      timeoutMs: flags.timeout * 1_000,
      onTrace: globals.verbose ? context.messages.trace : undefined,
      resolveProfile: () => context.profile(),
      checkEmail: async () => (await io.loadApp()).checkEmail(hostContext),
      checkDkim: async () => (await io.loadApp()).checkDkim(hostContext),
      findDatabaseProbe: async () => (await io.loadApp()).findDatabaseProbe(),
    });
  },
  render: formatDiagnosis,
  exitStatus: statusOfDiagnosis,
});
