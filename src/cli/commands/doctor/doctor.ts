import { UserError } from "../../../config/user-error.ts";
import { command } from "../../program/command.ts";
import { formatDiagnosis, statusOfDiagnosis } from "./doctor-format.ts";

const defaultTimeoutMs = 10_000;

export const doctor = command({
  name: "doctor",
  summary: "Check the installation and suggest fixes",
  examples: ["starpost doctor", "starpost doctor --json", "starpost doctor --profile local --timeout 60"],
  notes: [
    "Doctor changes nothing. The exit status is 0 if there are no problems (warnings do not count), 4 if the only problem is rejected credentials, 5 if the only problem is that the service cannot be reached, and 1 otherwise.",
  ],
  flags: {
    timeout: {
      value: "<seconds>",
      description: "time limit in seconds, 1 to 600 (default: 10)",
      read: parseTimeout,
    },
  },
  run: async ({ io, globals, host, profile }, { flags }) => {
    const { runChecks } = await import("../../../doctor/doctor.ts");
    const hostContext = await host();
    return runChecks({
      ...hostContext,
      cwd: io.cwd,
      node: { version: io.node.version, required: io.node.wanted },
      profileFlag: globals.profile,
      timeoutMs: flags.timeout ?? defaultTimeoutMs,
      resolveProfile: profile,
      checkEmailTransport: async () => (await io.loadApp()).checkMail(hostContext),
      findDatabaseProbe: async () => (await io.loadApp()).findDatabaseProbe(),
    });
  },
  render: formatDiagnosis,
  exitStatus: statusOfDiagnosis,
});

function parseTimeout(text: string, flag: string): number {
  const seconds = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (seconds >= 1 && seconds <= 600) return seconds * 1_000;
  throw new UserError(
    "usage",
    `invalid value ${JSON.stringify(text)} for ${flag}: must be an integer from 1 to 600`,
  );
}
