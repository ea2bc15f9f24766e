/** Vendors without an SDK whose requests could be compared, by preset, and why. What runs on one's own machine is none. */
export const withoutSdk: Readonly<Record<string, string>> = {
  cohere:
    'its SDK asks its own chat and embeddings, where the gateway asks the interface for OpenAI’s; their reranking is compared in test/contract/rerank.test.ts',
  custom: 'stands for any server',
  deepinfra:
    'its package asks an older API of its own; for this address its documents name the SDK of OpenAI',
  deepseek: 'its documents name the SDKs of OpenAI and Anthropic',
  jina: 'it has none; its documents show HTTP',
  minimax: 'its documents show HTTP, and the SDKs of OpenAI and Anthropic',
  moonshot: 'its documents name the SDK of OpenAI',
  novita: 'its package is for pictures and machines; for text its documents name the SDK of OpenAI',
  sandbox: 'is the simulator',
  voyage:
    'its SDK has embeddings and reranking alone; what it sends is compared in test/contract/rerank.test.ts',
}
