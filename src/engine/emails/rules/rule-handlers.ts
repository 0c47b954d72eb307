import {
  type contract,
  describeEmailRule,
  type EmailRuleName,
  emailRuleNames,
  emailRuleTable,
  type EmailSetting,
  type EmailSettingName,
  emailSettingNames,
  type EmailSettings,
  emailSettings,
  findRuleSwitch,
  invalidField,
  parseEmailSetting,
} from "../../../contract/index.ts";
import { readEmailSettings, readOwnEmailSettings, saveSetting } from "../../accounts/account-settings.ts";
import { accountOf, type Handlers } from "../../kernel/handler.ts";

export const emailRuleHandlers: Handlers<typeof contract.emailRules> = {
  list: async (_input, context) => {
    const { id: accountId } = accountOf(context);
    const ownSettings = await readOwnEmailSettings(context, accountId);
    const settings = await readEmailSettings(context, accountId);
    return {
      rules: emailRuleNames.map((name) => describeRule(name, settings)),
      settings: emailSettingNames.map((name) => describeSetting(name, ownSettings)),
    };
  },

  /**
   * Stores the value of a setting; null restores the default.
   * @throws ServiceError `invalidParams` if the value is not valid for the setting
   * Assumed: a value equal to the default is stored too, so that it stays in effect if a later version changes the default.
   */
  set: async ({ name, value }, context) => {
    const { id: accountId } = accountOf(context);
    const parsed = value === null ? { value } : parseEmailSetting(name, value);
    if ("problem" in parsed) throw invalidField("value", `of ${name} ${parsed.problem}`);
    await saveSetting({ name, value: parsed.value }, context, accountId);
    return { setting: describeSetting(name, await readOwnEmailSettings(context, accountId)) };
  },
};

function describeRule(name: EmailRuleName, settings: EmailSettings) {
  const switchName = findRuleSwitch(name);
  return {
    name,
    description: describeEmailRule(name, settings),
    on: switchName === undefined || settings[switchName] === true,
    can_be_off: switchName !== undefined,
    settings: [...emailRuleTable[name].settings],
  };
}

function describeSetting(name: EmailSettingName, ownSettings: Partial<EmailSettings>) {
  const setting: EmailSetting = emailSettings[name];
  return {
    name,
    description: setting.description,
    type: setting.type,
    value: ownSettings[name] ?? setting.default,
    default: setting.default,
    changed: ownSettings[name] !== undefined,
    min: setting.type === "number" ? setting.min : null,
    max: setting.type === "number" ? setting.max : null,
    choices: setting.type === "choice" ? [...setting.choices] : null,
  };
}
