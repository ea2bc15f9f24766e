/** Vendors without an SDK whose requests could be compared, by preset, and why. What runs on one's own machine is none. */
export const withoutSdk: Readonly<Record<string, string>> = {
  custom: 'stands for any server',
  deepinfra:
    'its package asks an older API of its own; for this address its documents name the SDK of OpenAI',
  deepseek: 'its documents name the SDKs of OpenAI and Anthropic',
  minimax: 'its documents show HTTP, and the SDKs of OpenAI and Anthropic',
  moonshot: 'its documents name the SDK of OpenAI',
  novita: 'its package is for pictures and machines; for text its documents name the SDK of OpenAI',
  sandbox: 'is the simulator',
}
