import { campaignCommand } from "./campaign-view.ts";

export default campaignCommand("resume", { summary: "Resume a stopped campaign, where it stopped" });
