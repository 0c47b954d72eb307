import type { Profile } from "../../config/profile.ts";

/** Which account is meant, for a person to think twice: `shop (live, https://api.example.com)`. */
export function describeLive(profile: Profile): string {
  return `${profile.name} (live, ${profile.mode === "remote" ? profile.baseUrl : profile.shownAs})`;
}
