/** What the type of an error means and the next step, for an operator; docs/errors.md has the whole table. */
const words: Readonly<Record<string, string>> = {
  invalid_request:
    'A field of the request is missing or wrong. The caller’s answer names it; correct the request.',
  upload_broken: 'The upload broke off or could not be decompressed. Send it again.',
  context_length_exceeded:
    'The prompt and the output do not fit the model. Shorten the prompt or take a larger model.',
  max_tokens_exceeded: 'The request asks for more output than the model can give. Lower its maximum.',
  string_too_long: 'A text is longer than its field or the model allows. Shorten it.',
  content_policy_violation: 'The provider refuses the content. Change the prompt or take another provider.',
  model_not_found: 'No configured provider has the model. Look at the name under Models, or add a provider.',
  authentication: 'The key is missing, unknown, expired or disabled. Look at it under Keys.',
  payment_required:
    'The balance or the key’s limit does not cover what the call may cost. Add credits (Money) or raise the key’s limit (Keys).',
  permission_denied:
    'The key is of the wrong kind, or a policy forbids what the call asks for. Look at the key’s kind and policy.',
  not_found:
    'There is no such path, batch, key, generation or model. Check the address and the ids of the request.',
  no_matching_endpoint:
    'The model is served, but no endpoint of it fits the request. Loosen the preferences or the policy.',
  conflict:
    'It is not possible in this state, or the first request with this idempotency key still runs. Wait, then repeat it.',
  payload_too_large: 'The request is larger than the gateway or the provider takes. Make it smaller.',
  unprocessable:
    'The ids or the model’s variant break a rule of batches, or an idempotency key came with another body. Correct the request.',
  unfit_answer:
    'The model answered in another form than the request asked for. Take a model that supports that form.',
  no_socket: 'The caller asked for a WebSocket at a path that has none. Sockets are at /responses.',
  rate_limit_exceeded:
    'The key or the organization calls more often than its rate. Call less often or raise the rate.',
  upstream_rate_limited:
    'Every endpoint that could answer is limited by its provider. Wait, or add a deployment of the model.',
  quota_used_up:
    'The quota that the operator set for the provider or the model is used up. Wait until it has room, or raise it.',
  internal: 'This is a bug in the gateway. Please report it with the request id.',
  settings_unavailable:
    'The gateway could not read or write the organization’s settings. Run: npx headrace doctor',
  provider_failed:
    'The provider failed, or its answer could not be read. Look at its status page and at its address in the configuration.',
  batch_unavailable:
    'The gateway cannot accept or read batches now. Try again; if it goes on: npx headrace doctor',
  upstream_cleanup_failed: 'A provider has not deleted what belonged to a batch yet. Delete the batch again.',
  no_healthy_endpoint: 'Every endpoint that could answer has just failed or cools down. Look at System.',
  storage_unavailable:
    'The gateway’s database did not answer in time. Look at the database, then: npx headrace doctor',
  shutting_down: 'The process was about to stop and took nothing new. Send the request again.',
  gateway_overloaded: 'The process had no room for the call. Send it again, or start another process.',
  balance_set_aside:
    'A gateway process that died or does not answer still holds a part of the balance. Try again after Retry-After.',
  deadline: 'The call ran out of its own time. Give it more time or take a faster model.',
  provider_timeout: 'The provider did not begin to answer in time. Look at its status page.',
  provider_overloaded: 'The provider says that it is overloaded. Wait, or add a deployment of the model.',
  batch_expired:
    'The batch reached the end of its 24 hours before this item ran. Send the item in a new batch.',
  batch_cancelled: 'The batch was cancelled before this item ran. Send the item in a new batch.',
}

/** A sentence of what the type means, and one of the next step; null for a type that the console does not know. */
export function errorWords(type: string): string | null {
  return words[type] ?? null
}
