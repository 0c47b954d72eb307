/** Restricts a command to some email types. */
export const emailTypeFlags = {
  type: {
    value: "<email_type_id>",
    description: "only this email type, 1 to 17 (default: all)",
    isRepeatable: true,
  },
} as const;
