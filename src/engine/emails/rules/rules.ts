import {
  type contract,
  type MailObstacle,
  mailObstacles,
  mailRuleTable,
  type MailSetting,
  type MailSettingName,
  mailSettingNames,
  type MailSettings,
  mailSettings,
  readMailSetting,
  ServiceError,
  switchOfRule,
  wordMailRule,
} from "../../../contract/index.ts";
import { keepMailSetting, readMailSettings, readOwnMailSettings } from "../../accounts/account-settings.ts";
import { accountOf, type Handlers } from "../../kernel/handler.ts";

export const emailRuleHandlers: Handlers<typeof contract.emailRules> = {
  list: async (_input, context) => {
    const { id: accountId } = accountOf(context);
    const own = await readOwnMailSettings(context, accountId);
    const settings = await readMailSettings(context, accountId);
    return {
      rules: mailObstacles.map((name) => describeRule(name, settings)),
      settings: mailSettingNames.map((name) => describeSetting(name, own)),
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
    const read = value === null ? { value } : readMailSetting(name, value);
    if ("problem" in read) throw new ServiceError("invalidParams", `value of ${name} ${read.problem}`);
    await keepMailSetting({ name, value: read.value }, context, accountId);
    return { setting: describeSetting(name, await readOwnMailSettings(context, accountId)) };
  },
};

function describeRule(name: MailObstacle, settings: MailSettings) {
  const ownSwitch = switchOfRule(name);
  return {
    name,
    says: wordMailRule(name, settings),
    on: ownSwitch === undefined || settings[ownSwitch] === true,
    can_be_off: ownSwitch !== undefined,
    settings: [...mailRuleTable[name].settings],
  };
}

function describeSetting(name: MailSettingName, own: Partial<MailSettings>) {
  const setting: MailSetting = mailSettings[name];
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
