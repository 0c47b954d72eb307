import { campaignCommand } from "./campaign-view.ts";

export default campaignCommand("get", { summary: "Show a campaign and how many of its emails were sent" });
