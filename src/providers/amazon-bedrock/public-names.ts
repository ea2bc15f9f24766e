import { plainNameOf } from './quirks.ts'

/** The authors of public ids, by the first part of Bedrock's names. */
const authors: Readonly<Record<string, string>> = {
  ai21: 'ai21',
  amazon: 'amazon',
  anthropic: 'anthropic',
  cohere: 'cohere',
  deepseek: 'deepseek',
  google: 'google',
  meta: 'meta-llama',
  minimax: 'minimax',
  mistral: 'mistralai',
  moonshot: 'moonshotai',
  moonshotai: 'moonshotai',
  nvidia: 'nvidia',
  openai: 'openai',
  qwen: 'qwen',
  writer: 'writer',
  zai: 'z-ai',
}

/**
 * The public id of a model: `us.anthropic.claude-sonnet-4-5-20250929-v1:0` is `anthropic/claude-sonnet-4-5-20250929`, as
 * Anthropic names it. Amazon's own keep their version, which belongs to their name. An ARN stays as it is, in one part.
 */
export function publicNameOf(upstreamModel: string): string {
  const name = plainNameOf(upstreamModel)
  const dot = name.indexOf('.')
  const maker = name.slice(0, Math.max(dot, 0))
  const author = Object.hasOwn(authors, maker) ? authors[maker] : undefined
  if (author === undefined) return upstreamModel.replaceAll('/', '--')
  const own = name.slice(dot + 1).replace(/:\d+(?:k)?$/, '')
  const version =
    author === 'amazon' ? own : own.replace(/-v\d+$|-\d$/, (end) => (isVersion(own, end) ? '' : end))
  const slug = version.replace(/^llama(\d)-(\d)-/, 'llama-$1.$2-').replace(/^llama(\d)-/, 'llama-$1-')
  return `${author}/${slug}`
}

/** ARNs that say what was made, not of which model. */
const namelessArn =
  /^arn:aws[\w-]*:bedrock:[^/]*:(?:application-inference-profile|provisioned-model|custom-model(?:-deployment)?|imported-model|(?:default-)?prompt-router)\//

/** Bedrock's name of the model behind such an ARN, by the public id that the operator gave: `anthropic.claude-opus-5`. */
export function nameBehind(upstreamModel: string, id: string): string {
  if (!namelessArn.test(upstreamModel)) return upstreamModel
  const [author = '', slug = ''] = id.split('/', 2)
  const maker = Object.keys(authors).find((each) => authors[each] === author)
  if (maker === undefined) return upstreamModel
  // Bedrock's names have hyphens: claude-opus-4-6, llama3-3.
  const own = slug.replaceAll(/(\d)\.(\d)/g, '$1-$2').replace(/^llama-/, 'llama')
  return `${maker}.${own}`
}

/** `gpt-oss-120b-1` ends in a version; `claude-opus-5` does not. */
function isVersion(name: string, end: string): boolean {
  return end.startsWith('-v') || name.startsWith('gpt-oss')
}
