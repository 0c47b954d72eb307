import { campaignCommand } from "./campaign-view.ts";

export default campaignCommand("stop", {
  summary: "Stop a campaign",
  notes: [
    "Its queued emails are held until `starpost mail campaign resume`, for at most 30 days. An email that is being sent may still arrive.",
  ],
});
