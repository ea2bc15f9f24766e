/**
 * What of `config.yaml` and of the database has no place in this gateway, or another one: written by hand from the two, a
 * line for each, in the order in which the command is to tell it.
 */
export const notCarried: readonly string[] = [
  'config.yaml:10  model_list[0].litellm_params.rpm: is kept to here: a twenty-fifth of it may come at once, and what is beyond it waits a moment, goes to the next deployment or is 429. LiteLLM only weighs by it, unless "enforce_model_rate_limits" is on',
  'config.yaml:36  model_list[3].litellm_params.timeout: each operation has its own time here',
  'config.yaml:37  model_list[3].model_info.supports_vision: what a model can do is known here by its name',
  'config.yaml:101  model_list[13].litellm_params.rpm: is kept to here: a twenty-fifth of it may come at once, and what is beyond it waits a moment, goes to the next deployment or is 429. LiteLLM only weighs by it, unless "enforce_model_rate_limits" is on',
  'config.yaml:103  model_list[14]: the deployment is not carried: there is no provider "bedrock" here',
  'config.yaml:110  router_settings.num_retries: a call has six attempts here, and what may pass is tried again',
  'config.yaml:119  litellm_settings.drop_params: tuning that a provider does not take is left out and listed here, always',
  'config.yaml:121  litellm_settings.fallbacks[0].reasoner[1]: "nowhere" is no model_name and no id of a deployment that is carried',
  'config.yaml:122  litellm_settings.success_callback: "broadcasts" sends every generation to addresses and OpenTelemetry collectors here',
  'config.yaml:125  general_settings.master_key: is carried as a key that asks for models; keys that manage: npx headrace keys create --management',
  'config.yaml:127  general_settings.alerting: has no counterpart here',
  'config.yaml:131  environment_variables.LANGFUSE_HOST: is not carried: set it in the environment of the gateway where it is needed',
  'database  LiteLLM_UserTable: its budgets are not carried (1): budgets are those of keys here',
  'database  key "f-daily": has spent 9 of its budget of 10 in the window that runs, which begins anew here',
  'database  key "h-every-ten-days": budget_duration "10d" has no equal here: what is left of its budget, 3, is never renewed',
  'database  key "j-beta": models: "gone" is no model_name that is carried',
  'database  key "k-nothing": may use no model that is carried, so it is disabled here',
  'database  key "m-tokens": max_parallel_requests: keys have no limit of calls at once here',
  'database  key "q-aliases": aliases: aliases are those of the whole gateway here',
  'database  key "r-model-budgets": model_max_budget: a key has one limit for all its models here',
  'database  key "research/n-team": has no budget but that of team "research", and here a limit of 60 of its own',
  'database  key "research/p-team-both": has no budget but that of team "research", and here a limit of 60 of its own',
  'database  key "z-unhashed": is not carried: it is stored otherwise than as a SHA-256 hash',
  'database  model "hidden-model": is not carried: the database has it encrypted; name it in model_list',
  'database  team "research": its alias "gpt-4" is not carried: it has another meaning for everybody else',
  'database  team "research": its alias "house" is carried for all keys',
  'database  team "research": max_budget: its keys share it in LiteLLM; here each that has no budget of its own may spend 60',
  'database  team "research": rpm_limit: its keys share it in LiteLLM; here each has 60 requests a minute',
]
