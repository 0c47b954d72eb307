import type { Profile } from "../../config/profile.ts";

/** The account or database, for a person to double-check: `shop (live, https://api.example.com)`. */
export function describeLiveProfile(profile: Profile): string {
  return `${profile.name} (live, ${profile.mode === "remote" ? profile.baseUrl : profile.shownAs})`;
}

/** What a command has confirmed. The first confirmed write covers the others, so that a command asks only once. */
export interface WriteApproval {
  isGiven: boolean;
}
