import { UserError } from "../../../config/user-error.ts";
import { command } from "../../program/command.ts";
import { statusOfDiagnosis, viewOfDiagnosis } from "../../../doctor/doctor-format.ts";

const usualTimeoutMs = 10_000;

export const doctor = command({
  name: "doctor",
  summary: "Look at everything that starpost needs here, and say what to do where something is wrong",
  examples: ["starpost doctor", "starpost doctor --json", "starpost doctor --profile local --timeout 60"],
  notes: [
    "Nothing is changed. It ends with 0 where there is no problem, else with 1; with 4 where refused credentials are all that is wrong, and with 5 where the service cannot be reached and nothing else is wrong.",
  ],
  flags: {
    timeout: {
      value: "<seconds>",
      description: "how long it may take, 1 to 600 (10)",
      read: readTimeout,
    },
  },
  run: async (context, { flags }) => {
    const { diagnose } = await import("../../../doctor/doctor.ts");
    return diagnose(context, flags.timeout ?? usualTimeoutMs);
  },
  render: viewOfDiagnosis,
  exitStatus: statusOfDiagnosis,
});

function readTimeout(text: string, flag: string): number {
  const seconds = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (seconds >= 1 && seconds <= 600) return seconds * 1_000;
  throw new UserError(
    "usage",
    `${flag}: ${JSON.stringify(text)} is not a whole number of seconds from 1 to 600`,
  );
}
