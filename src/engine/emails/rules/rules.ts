import {
  type contract,
  type EmailRuleName,
  emailRuleNames,
  emailRuleTable,
  type EmailSetting,
  type EmailSettingName,
  emailSettingNames,
  type EmailSettings,
  emailSettings,
  parseEmailSetting,
  ServiceError,
  findRuleSwitch,
  describeEmailRule,
} from "../../../contract/index.ts";
import {
  saveEmailSetting,
  readEmailSettings,
  readOwnEmailSettings,
} from "../../accounts/account-settings.ts";
import { accountOf, type Handlers } from "../../kernel/handler.ts";

export const emailRuleHandlers: Handlers<typeof contract.emailRules> = {
  list: async (_input, context) => {
    const { id: accountId } = accountOf(context);
    const own = await readOwnEmailSettings(context, accountId);
    const settings = await readEmailSettings(context, accountId);
    return {
      rules: emailRuleNames.map((name) => describeRule(name, settings)),
      settings: emailSettingNames.map((name) => describeSetting(name, own)),
    };
  },

  /**
   * Keeps a setting's value, or takes it back.
   * @throws ServiceError `invalidParams` where the setting cannot have the value
   * Assumed: a value that is the same as what the setting is by itself is kept as the account's own, so that it stays
   * where a later version has another.
   */
  set: async ({ name, value }, context) => {
    const { id: accountId } = accountOf(context);
    const read = value === null ? { value } : parseEmailSetting(name, value);
    if ("problem" in read) throw new ServiceError("invalidParams", `value of ${name} ${read.problem}`);
    await saveEmailSetting({ name, value: read.value }, context, accountId);
    return { setting: describeSetting(name, await readOwnEmailSettings(context, accountId)) };
  },
};

function describeRule(name: EmailRuleName, settings: EmailSettings) {
  const ownSwitch = findRuleSwitch(name);
  return {
    name,
    says: describeEmailRule(name, settings),
    on: ownSwitch === undefined || settings[ownSwitch] === true,
    can_be_off: ownSwitch !== undefined,
    settings: [...emailRuleTable[name].settings],
  };
}

function describeSetting(name: EmailSettingName, own: Partial<EmailSettings>) {
  const setting: EmailSetting = emailSettings[name];
  return {
    name,
    says: setting.words,
    type: setting.type,
    value: own[name] ?? setting.default,
    default: setting.default,
    changed: own[name] !== undefined,
    min: setting.type === "number" ? setting.min : null,
    max: setting.type === "number" ? setting.max : null,
    choices: setting.type === "choice" ? [...setting.choices] : null,
  };
}
